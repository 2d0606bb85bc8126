import { FENCE_MARKER } from './fence-key.js';
import { KeyState, STATE_BYTES } from './key-state.js';

/** Where the name begins in a record of sample.lua: behind the state and the name's length. */
const NAME_AT = STATE_BYTES + 4;

/** One key of a sample, read where it lies: valid only until the next one is looked at. */
export interface SampledKey {
  /** The name as stored, byte for byte, lies in these bytes from `start` up to, but not including, `end`. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  /** Counted from the sample's `serverUs`; `null`: without expiry. */
  readonly leftMs: number | null;
  /** Redis's name of the type: `string`, `hash`, `list` ...; `null` when owners were not asked for, as it costs a call for each key. */
  readonly type: string | null;
  /** First 16 hex digits of the SHA-1 of the value; `null` when not asked for, not a string, or too large to read. */
  readonly owner: string | null;
}

/** The keys of one step in the string in which the script sent them: a sweep of a million keys makes no object for any. */
export class SampledKeys {
  /** Keys that expired between SCAN and the look at them. */
  readonly vanished: number;
  /** Keys that the node lists but may not answer for, as their slot is another node's. */
  readonly moved: number;
  readonly #bytes: Buffer;
  /** Where the records of the others begin. */
  readonly #places: readonly number[];

  constructor(bytes: Buffer, { places, vanished, moved }: Survey) {
    this.#bytes = bytes;
    this.#places = places;
    this.vanished = vanished;
    this.moved = moved;
  }

  /** Keys that were there, without fence keys. */
  get length(): number {
    return this.#places.length;
  }

  /** Hands over one after the other, in one and the same object. */
  forEach(take: (key: SampledKey) => void): void {
    const record = new KeyRecord(this.#bytes);
    for (const place of this.#places) {
      record.moveTo(place);
      take(record);
    }
  }
}

/** Reads what sample.lua sent of the keys; undefined when it is nothing that the script sends. */
export function readSampledKeys(bytes: Buffer): SampledKeys | undefined {
  const survey = surveyRecords(bytes);
  return survey === undefined ? undefined : new SampledKeys(bytes, survey);
}

interface Survey {
  places: number[];
  vanished: number;
  moved: number;
}

/** Goes through all records once. Leaves out fence keys, and counts the keys that vanished or moved. */
function surveyRecords(bytes: Buffer): Survey | undefined {
  const survey: Survey = { places: [], vanished: 0, moved: 0 };
  const record = new KeyRecord(bytes);
  let marker = findMarker(bytes, 0);
  for (let at = 0; at < bytes.length; at = record.end) {
    if (at + NAME_AT > bytes.length) return undefined;
    record.moveTo(at);
    const { start, end } = record;
    if (end > bytes.length || !record.isValid) return undefined;
    if (marker < start) marker = findMarker(bytes, start);
    if (record.isGone) survey.vanished += 1;
    else if (record.isElsewhere) survey.moved += 1;
    else if (marker + FENCE_MARKER.length > end) survey.places.push(at);
  }
  return survey;
}

/** Where the next marker of a fence key begins; searched for in one go for all keys up to it. */
function findMarker(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(FENCE_MARKER, from, 'latin1');
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

class KeyRecord extends KeyState implements SampledKey {
  start = 0;
  end = 0;

  override moveTo(at: number): void {
    super.moveTo(at);
    this.start = at + NAME_AT;
    this.end = this.start + this.bytes.readUInt32LE(at + STATE_BYTES);
  }
}
