import { digestOf, highWord, lowWord } from './digest-words.js';
import type { Party } from './finding.js';
import { HoldBlock, INTEGER, LATE_NUMBER, NO_ROW, NUMBER, TEXT } from './hold-block.js';
import {
  HOLD_MARKS,
  type HoldFacts,
  type HoldMark,
  type HoldState,
  type OpenOverlap,
  type Suspicion,
} from './hold-facts.js';
import type { HoldRows } from './hold-rows.js';
import type { LockHistory } from './lock-history.js';
import type { Producer } from './producers.js';

/** By its place here a row says a state. The first is true of a new row. */
const STATES: readonly HoldState[] = ['unknown', 'live', 'lost', 'silent', 'ended'];
/** The list that a hold stands in: its producer's, that of the ended, or none: forgotten, and then to be used again. */
export type HoldPlace = 'spare' | 'active' | 'ended' | 'forgotten';
const PLACES: readonly HoldPlace[] = ['spare', 'active', 'ended', 'forgotten'];
/** The number by which a row says that its client believes in it. */
export const LIVE = STATES.indexOf('live');
/** The number by which a row says that it stands in its producer's list. */
export const ACTIVE = PLACES.indexOf('active');

/**
 * One hold of one lock, merged from whatever order its reports come in. A token is never shared and never reused, so its
 * digest names the hold.
 *
 * This is a handle on a row of {@link HoldRows}, made when one is asked for: two are of the same hold when their rows are the
 * same. Once the hold was forgotten its row becomes another's, so a handle is kept only as long as its hold stands in a list,
 * or an overlap of it is open, or it is under suspicion.
 */
export class Hold {
  readonly row: number;
  readonly #rows: HoldRows;
  readonly #block: HoldBlock;
  readonly #index: number;
  readonly #numbers: Float64Array;
  /** Where its numbers begin. */
  readonly #n: number;
  readonly #integers: Int32Array;
  /** Where its whole numbers begin. */
  readonly #i: number;

  /** @param index of the row in its block */
  constructor(rows: HoldRows, block: HoldBlock, row: number, index: number) {
    this.row = row;
    this.#rows = rows;
    this.#block = block;
    this.#index = index;
    this.#numbers = block.numbers;
    this.#n = HoldBlock.numbersAt(index);
    this.#integers = block.integers;
    this.#i = HoldBlock.integersAt(index);
  }

  /** Makes it a hold of which nothing is known. */
  clear(): void {
    this.#block.clear(this.#index);
  }

  /** Gives a new row its names, but for the resource. It stands in no list. */
  begin(facts: HoldFacts, producer: Producer, knownMs: number, order: number): void {
    this.#integers[this.#i + INTEGER.lockHigh] = highWord(facts.lock);
    this.#integers[this.#i + INTEGER.lockLow] = lowWord(facts.lock);
    this.#integers[this.#i + INTEGER.ownerHigh] = highWord(facts.owner);
    this.#integers[this.#i + INTEGER.ownerLow] = lowWord(facts.owner);
    this.#numbers[this.#n + NUMBER.order] = order;
    this.#numbers[this.#n + NUMBER.knownMs] = knownMs;
    this.producer = producer;
    this.place = 'active';
    this.leaseMs = 0;
    this.leaseEndMs = 0;
  }

  /** Lock id. Put together anew at each call. */
  get lock(): string {
    return digestOf(
      this.#integers[this.#i + INTEGER.lockHigh] ?? 0,
      this.#integers[this.#i + INTEGER.lockLow] ?? 0,
    );
  }

  /** Owner digest. Put together anew at each call. */
  get owner(): string {
    return digestOf(
      this.#integers[this.#i + INTEGER.ownerHigh] ?? 0,
      this.#integers[this.#i + INTEGER.ownerLow] ?? 0,
    );
  }

  /** Whether that is its owner, for less than it takes to ask for the text. */
  isOf(owner: string): boolean {
    return (
      (this.#integers[this.#i + INTEGER.ownerLow] ?? 0) === lowWord(owner) &&
      (this.#integers[this.#i + INTEGER.ownerHigh] ?? 0) === highWord(owner)
    );
  }

  get resource(): string {
    return this.#text(TEXT.resource) ?? '';
  }

  set resource(resource: string) {
    this.#setText(TEXT.resource, resource);
  }

  get producer(): Producer {
    const producer = this.#block.producers[this.#index];
    if (producer === undefined) throw new Error('A hold was kept beyond its end');
    return producer;
  }

  set producer(producer: Producer) {
    this.#block.producers[this.#index] = producer;
  }

  get state(): HoldState {
    return STATES[this.#integers[this.#i + INTEGER.state] ?? 0] ?? 'unknown';
  }

  set state(state: HoldState) {
    this.#integers[this.#i + INTEGER.state] = placeIn(STATES, state);
  }

  get place(): HoldPlace {
    return PLACES[this.#integers[this.#i + INTEGER.place] ?? 0] ?? 'spare';
  }

  set place(place: HoldPlace) {
    this.#integers[this.#i + INTEGER.place] = placeIn(PLACES, place);
  }

  /** Rises with each hold that becomes known. */
  get order(): number {
    return this.#numbers[this.#n + NUMBER.order] ?? 0;
  }

  /** Redis's clock at the grant. */
  get grantUs(): number | undefined {
    return known(this.#numbers[this.#n + NUMBER.grantUs]);
  }

  /** The server that granted it, with `grantUs`; undefined where it is not known. */
  get serverId(): string | undefined {
    return this.#text(TEXT.serverId);
  }

  get fence(): number | undefined {
    return known(this.#numbers[this.#n + NUMBER.fence]);
  }

  get leaseMs(): number {
    return this.#numbers[this.#n + NUMBER.leaseMs] ?? 0;
  }

  set leaseMs(ms: number) {
    this.#numbers[this.#n + NUMBER.leaseMs] = ms;
  }

  /** Redis's clock at the end of the lease, as far as known, of `serverId`. */
  get leaseEndUs(): number | undefined {
    return known(this.#numbers[this.#n + NUMBER.leaseEndUs]);
  }

  set leaseEndUs(us: number) {
    this.#numbers[this.#n + NUMBER.leaseEndUs] = us;
  }

  /** Awake time at which the lease is over at the latest: counted from the receipt. */
  get leaseEndMs(): number {
    return this.#numbers[this.#n + NUMBER.leaseEndMs] ?? 0;
  }

  set leaseEndMs(ms: number) {
    this.#numbers[this.#n + NUMBER.leaseEndMs] = ms;
  }

  /** Awake time at which it became known. */
  get knownMs(): number {
    return this.#numbers[this.#n + NUMBER.knownMs] ?? 0;
  }

  /** Redis's clock until which the work went on at least, of `workedServer`. */
  get workedUntilUs(): number | undefined {
    return known(this.#block.late(this.#index, LATE_NUMBER.workedUntilUs));
  }

  get workedServer(): string | undefined {
    return this.#block.workedServer(this.#index);
  }

  /** Redis's clock when it answered the release. */
  get releasedUs(): number | undefined {
    return known(this.#block.late(this.#index, LATE_NUMBER.releasedUs));
  }

  set releasedUs(us: number | undefined) {
    this.#block.setLate(this.#index, LATE_NUMBER.releasedUs, us ?? Number.NaN);
  }

  get loopDelayMs(): number | undefined {
    return known(this.#block.late(this.#index, LATE_NUMBER.loopDelayMs));
  }

  set loopDelayMs(ms: number) {
    this.#block.setLate(this.#index, LATE_NUMBER.loopDelayMs, ms);
  }

  get suspicion(): Suspicion | undefined {
    return this.#rows.suspicions.get(this.row);
  }

  set suspicion(suspicion: Suspicion | undefined) {
    if (suspicion === undefined) this.#rows.suspicions.delete(this.row);
    else this.#rows.suspicions.set(this.row, suspicion);
  }

  get open(): OpenOverlap | undefined {
    return this.#rows.openOverlaps.get(this.row);
  }

  set open(open: OpenOverlap | undefined) {
    if (open === undefined) this.#rows.openOverlaps.delete(this.row);
    else this.#rows.openOverlaps.set(this.row, open);
  }

  /** Links of the list that it stands in. */
  get next(): Hold | undefined {
    return this.#link(INTEGER.next);
  }

  set next(hold: Hold | undefined) {
    this.#setLink(INTEGER.next, hold);
  }

  get previous(): Hold | undefined {
    return this.#link(INTEGER.previous);
  }

  set previous(hold: Hold | undefined) {
    this.#setLink(INTEGER.previous, hold);
  }

  /** Links of its lock's list. */
  get older(): Hold | undefined {
    return this.#link(INTEGER.older);
  }

  set older(hold: Hold | undefined) {
    this.#setLink(INTEGER.older, hold);
  }

  get younger(): Hold | undefined {
    return this.#link(INTEGER.younger);
  }

  set younger(hold: Hold | undefined) {
    this.#setLink(INTEGER.younger, hold);
  }

  /** Undefined: it is the only hold of its lock. */
  get history(): LockHistory | undefined {
    return this.#block.history(this.#index);
  }

  set history(history: LockHistory | undefined) {
    this.#block.setHistory(this.#index, history);
  }

  is(mark: HoldMark): boolean {
    return ((this.#integers[this.#i + INTEGER.marks] ?? 0) & HOLD_MARKS[mark]) !== 0;
  }

  mark(mark: HoldMark): void {
    this.#integers[this.#i + INTEGER.marks] =
      (this.#integers[this.#i + INTEGER.marks] ?? 0) | HOLD_MARKS[mark];
  }

  /** Nothing that is known of the other holds of its lock touches it. */
  get isFront(): boolean {
    return this.history === undefined || this.history.isFront(this);
  }

  /** Its grant becomes known. */
  grant(grantUs: number, serverId: string | undefined, fence: number | undefined): void {
    this.#setFence(fence);
    this.#numbers[this.#n + NUMBER.grantUs] = grantUs;
    this.#setText(TEXT.serverId, serverId);
    this.history?.granted(this);
  }

  /** Its fence becomes known, if it was not. */
  number(fence: number | undefined): void {
    this.#setFence(fence);
    this.history?.fenced(this.fence);
  }

  /** Its work went on until then. */
  work(untilUs: number, serverId: string): void {
    this.#block.setLate(this.#index, LATE_NUMBER.workedUntilUs, untilUs);
    this.#block.setWorkedServer(this.#index, serverId);
    this.history?.worked(this);
  }

  #setFence(fence: number | undefined): void {
    if (fence !== undefined && this.fence === undefined) this.#numbers[this.#n + NUMBER.fence] = fence;
  }

  #text(place: number): string | undefined {
    return this.#block.texts[HoldBlock.textsAt(this.#index) + place];
  }

  #setText(place: number, text: string | undefined): void {
    this.#block.texts[HoldBlock.textsAt(this.#index) + place] = text;
  }

  #link(place: number): Hold | undefined {
    const row = this.#integers[this.#i + place] ?? NO_ROW;
    return row === NO_ROW ? undefined : this.#rows.at(row);
  }

  #setLink(place: number, hold: Hold | undefined): void {
    this.#integers[this.#i + place] = hold === undefined ? NO_ROW : hold.row;
  }
}

function known(value: number | undefined): number | undefined {
  return value === undefined || Number.isNaN(value) ? undefined : value;
}

/** A loop over words, each one object: a search by a property's name takes five times as long. */
function placeIn<Word extends string>(words: readonly Word[], word: Word): number {
  let place = 0;
  while (words[place] !== word && place < words.length) place += 1;
  return place;
}

/** The hold as a side of a finding. */
export function partyOf({ owner, fence, grantUs, serverId, producer }: Hold): Party {
  const { name, app, instance } = producer;
  return { owner, fence, grantUs, serverId, producer: name, app, instance };
}
