import { RedisLockError } from '../contract/errors.js';
import { FENCE_MARKER } from './fence-key.js';
import type {
  AcquireReply,
  CheckReply,
  Held,
  NotOwned,
  ReleaseReply,
  RenewReply,
  SampledKey,
  SampleReply,
  WrongType,
} from './replies.js';

/** What sample.lua says instead of a remaining life. */
const NO_EXPIRY = -1;
const VANISHED = -2;
const MOVED = -3;

/** How to read each status word's fields: the words here, in the script and in its header are the same (a test compares). */
export type Decoders<Reply extends { word: string }> = Record<Reply['word'], (fields: Fields) => Reply>;

const held = (fields: Fields): Held => {
  const [serverUs, leftMs] = fields.take(2);
  return { word: 'held', serverUs: fields.whole(serverUs), leftMs: fields.wholeOrNone(leftMs) };
};

const wrongType = (fields: Fields): WrongType => {
  const [of] = fields.take(1);
  if (of !== 'lock' && of !== 'fence') throw fields.fault();
  return { word: 'wrong_type', of };
};

const notOwned = (word: NotOwned['word'], fields: Fields): NotOwned => {
  const [serverUs, latestFence, latestGrantUs] = fields.take(3);
  return {
    word,
    serverUs: fields.whole(serverUs),
    latestFence: fields.wholeOrNone(latestFence),
    latestGrantUs: fields.wholeOrNone(latestGrantUs),
  };
};

const sharedByHolders = {
  expired: (fields: Fields) => notOwned('expired', fields),
  stolen: (fields: Fields) => notOwned('stolen', fields),
  wrong_type: wrongType,
};

export const ACQUIRE_DECODERS: Decoders<AcquireReply> = {
  granted: (fields) => {
    const [serverUs, fence] = fields.take(2);
    return { word: 'granted', serverUs: fields.whole(serverUs), fence: fields.wholeOrNone(fence) };
  },
  own: (fields) => {
    const [serverUs, fence, grantUs, leftMs] = fields.take(4);
    return {
      word: 'own',
      serverUs: fields.whole(serverUs),
      fence: fields.wholeOrNone(fence),
      grantUs: fields.wholeOrNone(grantUs),
      leftMs: fields.wholeOrNone(leftMs),
    };
  },
  held,
  wrong_type: wrongType,
};

export const RENEW_DECODERS: Decoders<RenewReply> = {
  renewed: (fields) => ({ word: 'renewed', serverUs: fields.onlyWhole() }),
  ...sharedByHolders,
};

export const RELEASE_DECODERS: Decoders<ReleaseReply> = {
  released: (fields) => ({ word: 'released', serverUs: fields.onlyWhole() }),
  ...sharedByHolders,
};

export const CHECK_DECODERS: Decoders<CheckReply> = { held, ...sharedByHolders };

/** The one word that a sample begins with. */
export const SAMPLED = 'sampled';

/** @throws RedisLockError `bad_reply`, `invalid_option` */
export function decodeAcquire(reply: unknown): AcquireReply {
  return decode<AcquireReply>('acquire', ACQUIRE_DECODERS, reply);
}

/** @throws RedisLockError `bad_reply`, `invalid_option` */
export function decodeRenew(reply: unknown): RenewReply {
  return decode<RenewReply>('renew', RENEW_DECODERS, reply);
}

/** @throws RedisLockError `bad_reply`, `invalid_option` */
export function decodeRelease(reply: unknown): ReleaseReply {
  return decode<ReleaseReply>('release', RELEASE_DECODERS, reply);
}

/** @throws RedisLockError `bad_reply`, `invalid_option` */
export function decodeCheck(reply: unknown): CheckReply {
  return decode<CheckReply>('check', CHECK_DECODERS, reply);
}

/**
 * Leaves out fence keys and counts the keys that vanished or moved.
 * @param reply what the connection answered, strings as Buffers
 * @throws RedisLockError `bad_reply`, `invalid_option`
 */
export function decodeSample(reply: unknown): SampleReply {
  if (!Array.isArray(reply))
    return decode<never>('sample', {}, Buffer.isBuffer(reply) ? latin1(reply) : reply);
  const fields = new Fields('sample', reply);
  const [word, cursor, serverUs, names, lefts, owners] = fields.take(6);
  if (latin1(word) !== SAMPLED || !Array.isArray(names) || !Array.isArray(lefts)) throw fields.fault();
  const cursorDigits = latin1(cursor);
  if (!/^\d{1,20}$/.test(cursorDigits)) throw fields.fault();
  const sample = { cursor: cursorDigits, serverUs: fields.whole(latin1(serverUs)), vanished: 0, moved: 0 };
  return { ...sample, ...readKeys(fields, names, lefts, latin1(owners)) };
}

/** The fields of one reply, and how to refuse them. */
class Fields {
  readonly #script: string;
  readonly #words: readonly unknown[];

  constructor(script: string, words: readonly unknown[]) {
    this.#script = script;
    this.#words = words;
  }

  take(count: number): readonly unknown[] {
    if (this.#words.length !== count) throw this.fault();
    return this.#words;
  }

  whole(field: unknown): number {
    const value = typeof field === 'string' && /^\d{1,16}$/.test(field) ? Number(field) : Number.NaN;
    if (!Number.isSafeInteger(value)) throw this.fault();
    return value;
  }

  wholeOrNone(field: unknown): number | null {
    return field === '-' ? null : this.whole(field);
  }

  onlyWhole(): number {
    return this.whole(this.take(1)[0]);
  }

  /** The words themselves stay out of the message. */
  fault(): RedisLockError {
    return new RedisLockError('bad_reply', `The script ${this.#script} answered something unknown`);
  }
}

function decode<Reply>(
  script: string,
  decoders: Readonly<Record<string, (fields: Fields) => Reply>>,
  reply: unknown,
): Reply {
  const [word = '', ...words] = typeof reply === 'string' ? reply.split(' ') : [];
  const fields = new Fields(script, words);
  if (word === 'bad_argument') throw refusedArgument(script, fields);
  const read = Object.hasOwn(decoders, word) ? decoders[word] : undefined;
  if (!read) throw fields.fault();
  return read(fields);
}

function refusedArgument(script: string, fields: Fields): RedisLockError {
  const [name] = fields.take(1);
  if (typeof name !== 'string' || !/^[A-Za-z]{1,32}$/.test(name)) return fields.fault();
  return new RedisLockError('invalid_option', `The script ${script} refused ${name}: it is out of range`);
}

function readKeys(fields: Fields, names: readonly unknown[], lefts: readonly unknown[], ownerWords: string) {
  const owners = ownerWords === '' ? undefined : ownerWords.split(' ');
  if (lefts.length !== names.length || (owners && owners.length !== names.length)) throw fields.fault();
  const found = { keys: [] as SampledKey[], vanished: 0, moved: 0 };
  names.forEach((key, at) => {
    if (!Buffer.isBuffer(key)) throw fields.fault();
    const left = readLeft(fields, lefts[at]);
    if (left === VANISHED) found.vanished += 1;
    else if (left === MOVED) found.moved += 1;
    else if (!key.includes(FENCE_MARKER)) {
      found.keys.push({ key, leftMs: left === NO_EXPIRY ? null : left, ...readOwner(fields, owners?.[at]) });
    }
  });
  return found;
}

/** A number; a connection with `stringNumbers` gives text. */
function readLeft(fields: Fields, field: unknown): number {
  const left = typeof field === 'number' ? field : Number(latin1(field) || 'none');
  if (!(Number.isInteger(left) && left >= MOVED)) throw fields.fault();
  return Math.min(left, Number.MAX_SAFE_INTEGER);
}

function readOwner(fields: Fields, word: string | undefined): Pick<SampledKey, 'type' | 'owner'> {
  if (word === undefined) return { type: null, owner: null };
  if (word === '-') return { type: 'string', owner: null };
  if (word.startsWith(':')) return { type: word.slice(1), owner: null };
  if (!/^[0-9a-f]{16}$/.test(word)) throw fields.fault();
  return { type: 'string', owner: word };
}

function latin1(field: unknown): string {
  if (typeof field === 'string') return field;
  return Buffer.isBuffer(field) ? field.toString('latin1') : '';
}
