import { RedisLockError } from '../contract/errors.js';
import { readLookedKeys } from './looked-keys.js';
import type {
  AcquireReply,
  CheckReply,
  Held,
  LookReply,
  NotOwned,
  ReleaseReply,
  RenewReply,
  SampleReply,
  WrongType,
} from './replies.js';
import { readSampledKeys } from './sampled-keys.js';

const MAX_DIGITS = 16;
/** Number of parts of a sample's reply. */
const SAMPLE_PARTS = 5;
/** Number of parts of a look's reply. */
const LOOK_PARTS = 4;
/** Character codes. */
const ZERO = 48;
const DASH = 45;
const SPACE = 32;

/** How to read each status word's fields: the words here, in the script and in its header are the same (a test compares). */
export type Decoders<Reply extends { word: string }> = Record<Reply['word'], (fields: Fields) => Reply>;

const held = (fields: Fields): Held => ({
  word: 'held',
  serverUs: fields.whole(),
  leftMs: fields.wholeOrNone(),
});

const wrongType = (fields: Fields): WrongType => {
  const of = fields.word();
  if (of !== 'lock' && of !== 'fence') throw fields.fault();
  return { word: 'wrong_type', of };
};

const notOwned = (word: NotOwned['word'], fields: Fields): NotOwned => ({
  word,
  serverUs: fields.whole(),
  latestFence: fields.wholeOrNone(),
  latestGrantUs: fields.wholeOrNone(),
});

const sharedByHolders = {
  expired: (fields: Fields) => notOwned('expired', fields),
  stolen: (fields: Fields) => notOwned('stolen', fields),
  wrong_type: wrongType,
};

export const ACQUIRE_DECODERS: Decoders<AcquireReply> = {
  granted: (fields) => ({ word: 'granted', serverUs: fields.whole(), fence: fields.wholeOrNone() }),
  own: (fields) => ({
    word: 'own',
    serverUs: fields.whole(),
    fence: fields.wholeOrNone(),
    grantUs: fields.wholeOrNone(),
    leftMs: fields.wholeOrNone(),
  }),
  held,
  wrong_type: wrongType,
};

export const RENEW_DECODERS: Decoders<RenewReply> = {
  renewed: (fields) => ({ word: 'renewed', serverUs: fields.whole() }),
  ...sharedByHolders,
};

export const RELEASE_DECODERS: Decoders<ReleaseReply> = {
  released: (fields) => ({ word: 'released', serverUs: fields.whole() }),
  ...sharedByHolders,
};

export const CHECK_DECODERS: Decoders<CheckReply> = { held, ...sharedByHolders };

/** The one word that a sample begins with, and the one of a look. */
export const SAMPLED = 'sampled';
export const LOOKED = 'looked';

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
  const [word, cursor, serverUs, tookUs, records] = reply;
  const cursorDigits = latin1(cursor);
  const isSample = reply.length === SAMPLE_PARTS && latin1(word) === SAMPLED;
  if (!isSample || !/^\d{1,20}$/.test(cursorDigits)) throw badReply('sample');
  const clock = new Fields('sample', latin1(serverUs));
  const us = clock.whole();
  clock.end();
  const keys = Buffer.isBuffer(records) ? readSampledKeys(records) : undefined;
  if (keys === undefined || !Number.isInteger(tookUs)) throw badReply('sample');
  return { cursor: cursorDigits, serverUs: us, tookUs, keys, vanished: keys.vanished, moved: keys.moved };
}

/**
 * @param reply what the connection answered, strings as Buffers
 * @param keys how many were asked for
 * @throws RedisLockError `bad_reply`, `invalid_option`
 */
export function decodeLook(reply: unknown, keys: number): LookReply {
  if (!Array.isArray(reply)) return decode<never>('look', {}, Buffer.isBuffer(reply) ? latin1(reply) : reply);
  const [word, serverUs, tookUs, records] = reply;
  if (reply.length !== LOOK_PARTS || latin1(word) !== LOOKED) throw badReply('look');
  const clock = new Fields('look', latin1(serverUs));
  const us = clock.whole();
  clock.end();
  const looked = Buffer.isBuffer(records) ? readLookedKeys(records, keys) : undefined;
  if (looked === undefined || !Number.isInteger(tookUs)) throw badReply('look');
  return { serverUs: us, tookUs, keys: looked };
}

/**
 * The words of one reply, read from the left, and how to refuse them. Nothing is split or copied: each lock reads two
 * replies this way.
 */
class Fields {
  readonly #script: string;
  readonly #text: string;
  #at = 0;

  constructor(script: string, text: string) {
    this.#script = script;
    this.#text = text;
  }

  /** The next word. @throws RedisLockError `bad_reply` when there is none */
  word(): string {
    if (this.#at > this.#text.length) throw this.fault();
    const space = this.#text.indexOf(' ', this.#at);
    const end = space < 0 ? this.#text.length : space;
    const word = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return word;
  }

  /** The next word as a number of 1 to 16 digits. By hand: a regular expression and Number() take twice the time. */
  whole(): number {
    const text = this.#text;
    const from = this.#at;
    let value = 0;
    let at = from;
    for (; at < text.length; at += 1) {
      const digit = text.charCodeAt(at) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    const isWhole = at > from && at - from <= MAX_DIGITS && Number.isSafeInteger(value);
    if (!isWhole || (at < text.length && text.charCodeAt(at) !== SPACE)) throw this.fault();
    this.#at = at + 1;
    return value;
  }

  wholeOrNone(): number | null {
    if (this.#text.charCodeAt(this.#at) !== DASH) return this.whole();
    if (this.word() !== '-') throw this.fault();
    return null;
  }

  /** @throws RedisLockError `bad_reply` when words are left */
  end(): void {
    if (this.#at <= this.#text.length) throw this.fault();
  }

  fault(): RedisLockError {
    return badReply(this.#script);
  }
}

/** The words themselves stay out of the message. */
export function badReply(script: string): RedisLockError {
  return new RedisLockError('bad_reply', `The script ${script} answered something unknown`);
}

function decode<Reply>(
  script: string,
  decoders: Readonly<Record<string, (fields: Fields) => Reply>>,
  reply: unknown,
): Reply {
  if (typeof reply !== 'string') throw badReply(script);
  const fields = new Fields(script, reply);
  const word = fields.word();
  const read = Object.hasOwn(decoders, word) ? decoders[word] : undefined;
  if (!read) throw word === 'bad_argument' ? refusedArgument(script, fields) : fields.fault();
  const decoded = read(fields);
  fields.end();
  return decoded;
}

function refusedArgument(script: string, fields: Fields): RedisLockError {
  const name = fields.word();
  fields.end();
  if (!/^[A-Za-z]{1,32}$/.test(name)) return fields.fault();
  return new RedisLockError('invalid_option', `The script ${script} refused ${name}: it is out of range`);
}

function latin1(field: unknown): string {
  if (typeof field === 'string') return field;
  return Buffer.isBuffer(field) ? field.toString('latin1') : '';
}
