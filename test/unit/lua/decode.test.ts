import { describe, expect, it } from 'vitest';
import { RedisLockError } from '../../../contract/errors.js';
import {
  decodeAcquire,
  decodeCheck,
  decodeLook,
  decodeRelease,
  decodeRenew,
  decodeSample,
} from '../../../lua/decode.js';
import { copyKeys, packKey } from '../../support/sampled-keys.js';

const US = '1700000000123456';
const bytes = (text: string) => Buffer.from(text, 'latin1');
const sample = (...parts: unknown[]) => [bytes('sampled'), ...parts];

function thrown(run: () => unknown): RedisLockError {
  try {
    run();
  } catch (error) {
    if (error instanceof RedisLockError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('replies as values', () => {
  it.each([
    [
      decodeAcquire,
      `granted ${US} 0000000000000017`,
      { word: 'granted', serverUs: 1700000000123456, fence: 17 },
    ],
    [decodeAcquire, `granted ${US} -`, { word: 'granted', serverUs: 1700000000123456, fence: null }],
    [
      decodeAcquire,
      `own ${US} 9007199254740991 ${US} -`,
      {
        word: 'own',
        serverUs: 1700000000123456,
        fence: Number.MAX_SAFE_INTEGER,
        grantUs: 1700000000123456,
        leftMs: null,
      },
    ],
    [decodeAcquire, `held ${US} 0`, { word: 'held', serverUs: 1700000000123456, leftMs: 0 }],
    [decodeAcquire, 'wrong_type fence', { word: 'wrong_type', of: 'fence' }],
    [decodeRenew, `renewed ${US}`, { word: 'renewed', serverUs: 1700000000123456 }],
    [
      decodeRelease,
      `stolen ${US} 3 ${US}`,
      { word: 'stolen', serverUs: 1700000000123456, latestFence: 3, latestGrantUs: 1700000000123456 },
    ],
    [
      decodeCheck,
      `expired ${US} - -`,
      { word: 'expired', serverUs: 1700000000123456, latestFence: null, latestGrantUs: null },
    ],
  ])('%o reads %s', (decode, reply, value) => {
    expect(decode(reply)).toEqual(value);
  });
});

describe('what no script answers is refused', () => {
  it.each([
    'secret-token',
    'renewed 1',
    '',
    'granted',
    `granted ${US}`,
    `granted ${US} - -`,
    `granted ${US}  -`,
    'granted x -',
    'granted - -',
    'granted -1 -',
    'granted 1e15 -',
    `granted ${US} 9007199254740992`,
    `granted ${US} 12345678901234567`,
    'wrong_type token',
    'bad_argument',
    'bad_argument secret token',
    'bad_argument $ecret',
    'constructor 1',
    null,
    7,
    ['granted', US, '-'],
    Buffer.from(`granted ${US} -`),
  ])('%j', (reply) => {
    const error = thrown(() => decodeAcquire(reply));
    expect(error.id).toBe('bad_reply');
    expect(error.message).not.toContain('ecret');
  });

  it.each([decodeAcquire, decodeRenew, decodeRelease, decodeCheck])(
    '%o names a refused argument',
    (decode) => {
      const error = thrown(() => decode('bad_argument leaseMs'));
      expect(error.id).toBe('invalid_option');
      expect(error.message).toContain('leaseMs');
    },
  );
});

describe('a sample', () => {
  const head = [bytes('18446744073709551615'), bytes(US)];
  const read = (...records: Buffer[]) => {
    const reply = decodeSample(sample(...head, 7, Buffer.concat(records)));
    return { ...reply, keys: copyKeys(reply) };
  };

  it('keeps a cursor beyond 2^53 and the bytes of names', () => {
    const key = Buffer.from([0xff, 0x00, 0x7b, 0x20]);
    expect(read(packKey(key, 5, '0123456789abcdef'), packKey('b', -1, ':hash'))).toEqual({
      cursor: '18446744073709551615',
      serverUs: 1700000000123456,
      tookUs: 7,
      vanished: 0,
      moved: 0,
      keys: [
        { key, leftMs: 5, type: 'string', owner: '0123456789abcdef' },
        { key: bytes('b'), leftMs: null, type: 'hash', owner: null },
      ],
    });
  });

  it('counts keys that vanished or moved, and leaves out fence keys', () => {
    const fence = 'app:redis-lock-fence:{a}';
    const lefts: [string, number][] = [
      ['a', -2],
      ['b', -3],
      ['c', -2],
      [fence, 7],
      ['d', 7],
      [fence, -1],
    ];
    const reply = read(...lefts.map(([name, left]) => packKey(name, left)));
    expect(reply).toMatchObject({ vanished: 2, moved: 1 });
    expect(reply.keys).toEqual([{ key: bytes('d'), leftMs: 7, type: null, owner: null }]);
  });

  it('takes no key for a fence key because of the bytes behind its name', () => {
    const name = 'x:redis-lock-fence';
    const long = packKey(`:${'y'.repeat(1000)}`, 7, '0123456789abcdef');
    expect(read(packKey(name, 7), long, packKey(name, 7)).keys.map(({ key }) => key.length)).toEqual([
      18, 1001, 18,
    ]);
  });

  it('of no keys is empty', () => {
    expect(read().keys).toEqual([]);
  });

  it('takes an expiry beyond 2^53, and values that nobody may read', () => {
    const { keys } = read(packKey('a', 2 ** 60, '-'), packKey('b', 12, '-'));
    expect(keys.map(({ leftMs }) => leftMs)).toEqual([Number.MAX_SAFE_INTEGER, 12]);
    expect(keys).toMatchObject([
      { type: 'string', owner: null },
      { type: 'string', owner: null },
    ]);
  });

  it.each([
    [[]],
    [sample(...head, 7, packKey('a', 5).subarray(0, 27))],
    [sample(...head, 7, packKey('ab', 5).subarray(0, 29))],
    [sample(...head, 7, Buffer.concat([packKey('a', 5), bytes('x')]))],
    [sample(...head, 7, packKey('a', -4))],
    [sample(...head, 7, packKey('a', Number.NaN))],
    [sample(...head, 7, packKey('a', 1.5))],
    [sample(...head, 7, packKey('a', 5, '0123456789ABCDEF'))],
    [sample(...head, 7, packKey('a', 5, '0123456789abcde'))],
    [sample(...head, 7, 'a')],
    [sample(...head, 7, [packKey('a', 5)])],
    [sample(...head, 7, bytes(''), bytes(''))],
    [sample(...head, bytes('7'), bytes(''))],
    [sample(...head, 7.5, bytes(''))],
    [sample(...head, bytes(''))],
    [sample(bytes('-1'), bytes(US), 7, bytes(''))],
    [sample(bytes('0'), bytes('now'), 7, bytes(''))],
    [[bytes('granted'), ...head, 7, bytes('')]],
    [bytes('sampled')],
    [null],
  ])('of another shape is refused: %j', (reply) => {
    expect(thrown(() => decodeSample(reply)).id).toBe('bad_reply');
  });

  it('names a refused argument', () => {
    expect(thrown(() => decodeSample(bytes('bad_argument count'))).message).toContain('count');
  });
});

describe('a look', () => {
  const US_BYTES = bytes(US);
  const state = (left: number, owner = '') => packKey('', left, owner).subarray(0, 24);
  const look = (...parts: unknown[]) => [bytes('looked'), ...parts];

  it('tells of each key in the order asked', () => {
    const states = [state(5, '0123456789abcdef'), state(-1, ':hash'), state(-2, '-'), state(-3, '-')];
    const { serverUs, tookUs, keys } = decodeLook(look(US_BYTES, 7, Buffer.concat(states)), 4);
    const seen: unknown[] = [];
    keys.forEach(({ isGone, isElsewhere, leftMs, type, owner }, at) => {
      seen.push(isGone || isElsewhere ? [at, isGone, isElsewhere] : [at, leftMs, type, owner]);
    });
    expect([serverUs, tookUs, seen]).toEqual([
      1700000000123456,
      7,
      [
        [0, 5, 'string', '0123456789abcdef'],
        [1, null, 'hash', null],
        [2, true, false],
        [3, false, true],
      ],
    ]);
  });

  it.each([
    [[], 0],
    [look(US_BYTES, 7, state(5)), 2],
    [look(US_BYTES, 7, state(5)), 0],
    [look(US_BYTES, 7, state(-4)), 1],
    [look(US_BYTES, 7, state(5, 'no digest')), 1],
    [look(US_BYTES, 7.5, state(5)), 1],
    [look(bytes('now'), 7, state(5)), 1],
    [look(US_BYTES, 7, [state(5)]), 1],
    [[bytes('sampled'), US_BYTES, 7, state(5)], 1],
    [look(US_BYTES, 7, state(5), state(5)), 1],
    [bytes('looked'), 0],
  ])('of another shape is refused: %j of %i keys', (reply, keys) => {
    expect(thrown(() => decodeLook(reply, keys)).id).toBe('bad_reply');
  });

  it('names a refused argument', () => {
    expect(thrown(() => decodeLook(bytes('bad_argument keys'), 1)).message).toContain('keys');
  });
});
