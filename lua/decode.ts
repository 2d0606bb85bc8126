import { RedisLockError } from '../contract/errors.js';
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

/** Fields in front of the keys in a sample: cursor, serverUs, vanished, moved. */
const SAMPLE_HEAD = 4;
/** Fields of each key in a sample: key, leftMs, type, owner. */
const SAMPLE_STRIDE = 4;

/** @throws RedisLockError `bad_reply`, `invalid_option` */
export function decodeAcquire(reply: unknown): AcquireReply {
  const [word, ...fields] = splitReply('acquire', reply);
  switch (word) {
    case 'granted': {
      const [serverUs, fence] = take('acquire', fields, 2);
      return { word, serverUs: whole('acquire', serverUs), fence: wholeOrNone('acquire', fence) };
    }
    case 'own': {
      const [serverUs, fence, grantUs, leftMs] = take('acquire', fields, 4);
      return {
        word,
        serverUs: whole('acquire', serverUs),
        fence: wholeOrNone('acquire', fence),
        grantUs: wholeOrNone('acquire', grantUs),
        leftMs: wholeOrNone('acquire', leftMs),
      };
    }
    case 'held':
      return held('acquire', fields);
    case 'wrong_type':
      return wrongType('acquire', fields);
    default:
      throw strangeWord('acquire', word, fields);
  }
}

/** @throws RedisLockError `bad_reply`, `invalid_option` */
export function decodeRenew(reply: unknown): RenewReply {
  const [word, ...fields] = splitReply('renew', reply);
  switch (word) {
    case 'renewed':
      return { word, serverUs: onlyServerUs('renew', fields) };
    case 'expired':
    case 'stolen':
      return notOwned('renew', word, fields);
    case 'wrong_type':
      return wrongType('renew', fields);
    default:
      throw strangeWord('renew', word, fields);
  }
}

/** @throws RedisLockError `bad_reply` */
export function decodeRelease(reply: unknown): ReleaseReply {
  const [word, ...fields] = splitReply('release', reply);
  switch (word) {
    case 'released':
      return { word, serverUs: onlyServerUs('release', fields) };
    case 'expired':
    case 'stolen':
      return notOwned('release', word, fields);
    case 'wrong_type':
      return wrongType('release', fields);
    default:
      throw strangeWord('release', word, fields);
  }
}

/** @throws RedisLockError `bad_reply` */
export function decodeCheck(reply: unknown): CheckReply {
  const [word, ...fields] = splitReply('check', reply);
  switch (word) {
    case 'held':
      return held('check', fields);
    case 'expired':
    case 'stolen':
      return notOwned('check', word, fields);
    case 'wrong_type':
      return wrongType('check', fields);
    default:
      throw strangeWord('check', word, fields);
  }
}

/**
 * @param reply what the connection answered, strings as Buffers
 * @throws RedisLockError `bad_reply`, `invalid_option`
 */
export function decodeSample(reply: unknown): SampleReply {
  if (Buffer.isBuffer(reply)) {
    const [word, ...fields] = splitReply('sample', reply.toString('latin1'));
    throw strangeWord('sample', word ?? '', fields);
  }
  if (!Array.isArray(reply) || reply.length < SAMPLE_HEAD || (reply.length - SAMPLE_HEAD) % SAMPLE_STRIDE) {
    throw badReply('sample');
  }
  const [cursor, serverUs, vanished, moved] = reply;
  const keys: SampledKey[] = [];
  for (let at = SAMPLE_HEAD; at < reply.length; at += SAMPLE_STRIDE) keys.push(sampledKey(reply, at));
  return {
    cursor: digits(text(cursor)),
    serverUs: whole('sample', text(serverUs)),
    vanished: count(vanished),
    moved: count(moved),
    keys,
  };
}

function sampledKey(reply: readonly unknown[], at: number): SampledKey {
  const key = reply[at];
  const left = reply[at + 1];
  const type = text(reply[at + 2]);
  const owner = text(reply[at + 3]);
  if (!Buffer.isBuffer(key)) throw badReply('sample');
  return {
    key,
    leftMs: typeof left === 'number' ? count(left) : none(text(left)),
    type: type === '-' ? null : type,
    owner: owner === '-' ? null : owner,
  };
}

function splitReply(script: string, reply: unknown): [string, ...string[]] {
  if (typeof reply !== 'string') throw badReply(script);
  const [word = '', ...fields] = reply.split(' ');
  return [word, ...fields];
}

function take(script: string, fields: string[], count: number): string[] {
  if (fields.length !== count) throw badReply(script);
  return fields;
}

function held(script: string, fields: string[]): Held {
  const [serverUs, leftMs] = take(script, fields, 2);
  return { word: 'held', serverUs: whole(script, serverUs), leftMs: wholeOrNone(script, leftMs) };
}

function notOwned(script: string, word: NotOwned['word'], fields: string[]): NotOwned {
  const [serverUs, fence, grantUs] = take(script, fields, 3);
  return {
    word,
    serverUs: whole(script, serverUs),
    latestFence: wholeOrNone(script, fence),
    latestGrantUs: wholeOrNone(script, grantUs),
  };
}

function wrongType(script: string, fields: string[]): WrongType {
  const [of] = take(script, fields, 1);
  if (of !== 'lock' && of !== 'fence') throw badReply(script);
  return { word: 'wrong_type', of };
}

function onlyServerUs(script: string, fields: string[]): number {
  return whole(script, take(script, fields, 1)[0]);
}

function whole(script: string, field: string | undefined): number {
  const value = /^\d{1,16}$/.test(field ?? '') ? Number(field) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw badReply(script);
  return value;
}

function wholeOrNone(script: string, field: string | undefined): number | null {
  return field === '-' ? null : whole(script, field);
}

function text(field: unknown): string {
  if (!Buffer.isBuffer(field)) throw badReply('sample');
  return field.toString('latin1');
}

function digits(field: string): string {
  if (!/^\d{1,20}$/.test(field)) throw badReply('sample');
  return field;
}

function count(field: unknown): number {
  if (typeof field !== 'number' || !Number.isSafeInteger(field) || field < 0) throw badReply('sample');
  return field;
}

function none(field: string): null {
  if (field !== '-') throw badReply('sample');
  return null;
}

/** A refused argument, or a word that this version does not know. The words themselves stay out of the message. */
function strangeWord(script: string, word: string, fields: string[]): RedisLockError {
  const [name = ''] = fields;
  if (word !== 'bad_argument' || !/^[A-Za-z]{1,32}$/.test(name)) return badReply(script);
  return new RedisLockError('invalid_option', `The script ${script} refused ${name} as out of its range`);
}

function badReply(script: string): RedisLockError {
  return new RedisLockError('bad_reply', `The script ${script} answered something unknown`);
}
