import packageSlot from 'cluster-key-slot';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RedisLockError } from '../../../contract/errors.js';
import { FENCE_MARKER, fenceKey } from '../../../lua/fence-key.js';
import { hashTag, keySlot, makeSlotTags } from '../../../lua/key-slot.js';

const slot = (key: string | Buffer) => keySlot(Buffer.from(key));

const bracedText = fc.string({ unit: fc.constantFrom('{', '}', 'a', 'é', ':', '\ud800'), maxLength: 8 });
const bracedBytes = fc
  .array(fc.constantFrom(0x7b, 0x7d, 0x00, 0x61, 0xff), { maxLength: 8 })
  .map((bytes) => Buffer.from(bytes));
const anyKey = fc.oneof(
  bracedText,
  fc.string(),
  bracedBytes,
  fc.uint8Array().map((b) => Buffer.from(b)),
);
const goodPrefix = fc.constantFrom('', 'app:', 'a}', '}', '{t}:', 'x{t}y{', '{t}{}');

describe('the slot of a key', () => {
  it('is that of the specification’s example and of cluster-key-slot, where no empty tag misleads that', () => {
    expect(slot('123456789')).toBe(0x31c3);
    const misled = (key: Buffer) => /^[^{]*\{\}/.test(key.toString('latin1'));
    fc.assert(
      fc.property(anyKey, (key) => {
        const bytes = Buffer.from(key);
        fc.pre(!misled(bytes));
        expect(keySlot(bytes)).toBe(packageSlot(bytes));
      }),
    );
  });

  it('of a key with an empty tag is that of the whole key', () => {
    expect(hashTag(Buffer.from('a{}b}'))).toBeUndefined();
    expect(slot('a{}b}')).not.toBe(packageSlot(Buffer.from('a{}b}')));
  });

  it('has a short tag for each of the 16,384', () => {
    const tags = makeSlotTags();
    expect(tags.length).toBe(16_384);
    expect(tags.every((tag, at) => /^[a-z0-9]{1,4}$/.test(tag) && slot(tag) === at)).toBe(true);
  });
});

describe('the fence key', () => {
  it('is readable for usual names', () => {
    expect(fenceKey('lock:stock:1')).toBe('redis-lock-fence:{lock:stock:1}');
    expect(fenceKey('bull:{mail}:1:lock')).toBe('redis-lock-fence:{mail}:bull:{mail}:1:lock');
    expect(fenceKey(Buffer.from('lock:a'))).toEqual(Buffer.from('redis-lock-fence:{lock:a}'));
    expect(fenceKey('app:lock:a', 'app:')).toBe('redis-lock-fence:{app:lock:a}');
    expect(fenceKey('{t}:lock:a', '{t}:')).toBe('redis-lock-fence:{t}:lock:a');
  });

  it('stored under its prefix, has the lock’s slot for every name', () => {
    fc.assert(
      fc.property(goodPrefix, anyKey, (prefix, key) => {
        const full = Buffer.concat([Buffer.from(prefix), Buffer.from(key)]);
        const sent = fenceKey(typeof key === 'string' ? prefix + key : full, prefix);
        expect(sent.slice(0, FENCE_MARKER.length).toString()).toBe(FENCE_MARKER);
        expect(Buffer.isBuffer(sent)).toBe(Buffer.isBuffer(key));
        const stored = Buffer.concat([Buffer.from(prefix), Buffer.from(sent)]);
        expect(keySlot(stored)).toBe(keySlot(full));
      }),
      { numRuns: 1000 },
    );
  });

  it('differs for different locks', () => {
    fc.assert(
      fc.property(goodPrefix, bracedBytes, bracedBytes, (prefix, one, other) => {
        fc.pre(!one.equals(other));
        const name = (key: Buffer) =>
          fenceKey(Buffer.concat([Buffer.from(prefix), key]), prefix).toString('latin1');
        expect(name(one)).not.toBe(name(other));
      }),
      { numRuns: 1000 },
    );
  });

  it('of an empty key is a name with a tag', () => {
    expect(slot(fenceKey(''))).toBe(0);
  });

  it('cannot be placed under a prefix with a brace that opens no tag', () => {
    for (const prefix of ['{', 'a{b', '{}', 'a{}b}']) {
      expect(() => fenceKey(`${prefix}x`, prefix)).toThrow(RedisLockError);
    }
  });

  it('is told apart by an odd name’s text, not by its slot alone', () => {
    expect(fenceKey('a{}b')).toMatch(/^redis-lock-fence:\{[a-z0-9]{1,4}\}:a\{\}b$/);
  });
});
