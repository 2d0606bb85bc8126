import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ACQUIRE_DECODERS,
  CHECK_DECODERS,
  decodeAcquire,
  decodeCheck,
  decodeRelease,
  decodeRenew,
  LOOKED,
  RELEASE_DECODERS,
  RENEW_DECODERS,
  SAMPLED,
} from '../../../lua/decode.js';
import {
  acquireArgv,
  checkArgv,
  keysOf,
  lookArgv,
  releaseArgv,
  renewArgv,
  sampleArgv,
} from '../../../lua/scripts.js';
import { type Binding, findFaults } from './script-gate.js';

/** Each argument is a value of its own, so that ARGV can be turned back into names. */
const lock = { key: 'key', fenceKey: 'fence', token: 'token' };
const times = { ...lock, leaseMs: 11, fenceTtlMs: 12 };
const sample = {
  cursor: '13',
  pattern: 'pattern',
  count: 14,
  withOwners: true,
  maxValueBytes: 15,
  prefixes: [],
};
const named = new Map<unknown, string>([
  ...Object.entries(times).map(([name, value]) => [value, name] as const),
  ...Object.entries(sample).map(([name, value]) => [value === true ? 1 : value, name] as const),
]);
const names = (argv: readonly unknown[], ofBytes = 'unknown') =>
  argv.map((value) => named.get(value) ?? (Buffer.isBuffer(value) ? ofBytes : `unknown ${value}`));
const keys = keysOf(lock).length;

const bindings: Record<string, Binding> = {
  acquire: {
    args: names(acquireArgv(times)),
    keys,
    words: Object.keys(ACQUIRE_DECODERS),
    decode: decodeAcquire,
  },
  renew: { args: names(renewArgv(times)), keys, words: Object.keys(RENEW_DECODERS), decode: decodeRenew },
  release: {
    args: names(releaseArgv(lock)),
    keys,
    words: Object.keys(RELEASE_DECODERS),
    decode: decodeRelease,
  },
  check: { args: names(checkArgv(lock)), keys, words: Object.keys(CHECK_DECODERS), decode: decodeCheck },
  sample: {
    args: names(sampleArgv(sample), 'prefixes'),
    keys: 0,
    words: [SAMPLED],
    decode: () => ({ word: SAMPLED }),
  },
  look: {
    args: names(lookArgv({ maxValueBytes: sample.maxValueBytes, keys: [] }), 'keys'),
    keys: 0,
    words: [LOOKED],
    decode: () => ({ word: LOOKED }),
  },
};

const folder = new URL('../../../lua/', import.meta.url);
const read = (name: string) => readFileSync(new URL(`${name}.lua`, folder), 'utf8');
const bind = (name: string): Binding => {
  const binding = bindings[name];
  if (!binding) throw new Error(`${name}.lua has no binding`);
  return binding;
};

describe('a script’s header, body and binding agree', () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.lua'));

  it('for as many scripts as there are bindings', () => {
    expect(files.map((file) => file.replace('.lua', '')).sort()).toEqual(Object.keys(bindings).sort());
  });

  it.each(files)('%s', (file) => {
    const name = file.replace('.lua', '');
    expect(findFaults(read(name), bind(name))).toEqual([]);
  });
});

describe('the gate fails for', () => {
  const cases: { fault: string; script: string; from: string | RegExp; to: string; says: string }[] = [
    { fault: 'a shebang', script: 'acquire', from: /^/, to: '#!lua\n', says: 'shebang' },
    { fault: 'no purpose', script: 'acquire', from: /^-- .*\n/, to: '', says: 'no purpose line' },
    {
      fault: 'a key that the header lacks',
      script: 'renew',
      from: /^-- KEYS\[2\].*\n/m,
      to: '',
      says: 'KEYS[2] is used but not documented',
    },
    {
      fault: 'a key that is never used',
      script: 'renew',
      from: 'KEYS[1], KEYS[2]',
      to: 'KEYS[1]',
      says: 'KEYS[2] is documented but not used',
    },
    {
      fault: 'an argument that the header lacks',
      script: 'acquire',
      from: 'ARGV[2], ARGV[3]',
      to: 'ARGV[2], ARGV[4]',
      says: 'ARGV[4] is used but not documented',
    },
    {
      fault: 'an argument that is never read',
      script: 'acquire',
      from: 'ARGV[2], ARGV[3]',
      to: 'ARGV[2]',
      says: 'ARGV[3] is documented but not used',
    },
    {
      fault: 'a time without a range',
      script: 'renew',
      from: ', integer, 1 to 86400000',
      to: '',
      says: 'leaseMs has no range',
    },
    {
      fault: 'a reply that the header lacks',
      script: 'check',
      from: /^-- REPLY held.*\n/m,
      to: '',
      says: 'held is a reply that the header lacks',
    },
    {
      fault: 'a reply that is never given',
      script: 'check',
      from: "return 'held '",
      to: "return 'stolen '",
      says: 'held is a reply in the header only',
    },
    {
      fault: 'a reply that is not decoded',
      script: 'release',
      from: /released/g,
      to: 'freed',
      says: 'freed is not decoded',
    },
    {
      fault: 'a decoded word that is no reply',
      script: 'release',
      from: /released/g,
      to: 'freed',
      says: 'released is decoded but not in the header',
    },
    {
      fault: 'a reply with a field too many',
      script: 'renew',
      from: 'renewed <serverUs>',
      to: 'renewed <serverUs> <leftMs>',
      says: 'cannot read "renewed 17 17"',
    },
    {
      fault: 'a field wrongly called optional',
      script: 'renew',
      from: 'renewed <serverUs>',
      to: 'renewed <serverUs|->',
      says: 'cannot read "renewed -"',
    },
    {
      fault: 'a write in a script that says it writes not',
      script: 'check',
      from: "local left = redis.call('PTTL', lock)",
      to: "local left = redis.call('DEL', lock)",
      says: 'WRITES no, the body says yes',
    },
    {
      fault: 'a missing WRITES line',
      script: 'check',
      from: /^-- WRITES no\n/m,
      to: '',
      says: 'WRITES undefined',
    },
    {
      fault: 'a command that nobody has judged',
      script: 'check',
      from: "'PTTL'",
      to: "'TTL'",
      says: 'does not know TTL',
    },
    {
      fault: 'a read after a write',
      script: 'release',
      from: "redis.call('DEL', lock)",
      to: "redis.call('DEL', lock)\nredis.call('TIME')",
      says: 'writes before its last read',
    },
    {
      fault: 'a read after a write inside a function',
      script: 'release',
      from: /redis\.call\('DEL', lock\)/,
      to: "local function look()\n  return redis.call('TIME')\nend\nredis.call('DEL', lock)\nlook()",
      says: 'writes before its last read',
    },
  ];

  it.each(cases)('$fault', ({ script, from, to, says }) => {
    const source = read(script);
    const broken = source.replace(from, to);
    expect(broken).not.toBe(source);
    expect(findFaults(broken, bind(script)).join('\n')).toContain(says);
  });

  it('a binding with arguments in another order', () => {
    const swapped = { ...bind('acquire'), args: ['token', 'fenceTtlMs', 'leaseMs'] };
    expect(findFaults(read('acquire'), swapped).join()).toContain('the binding sends ARGV');
  });

  it('a binding with another number of keys', () => {
    expect(findFaults(read('acquire'), { ...bind('acquire'), keys: 1 })).toEqual([
      'the binding sends 1 KEYS, the header has 2',
    ]);
  });
});
