import { describe, expect, it } from 'vitest';
import { lockKeys } from '../../../../exporter/sampler/key-pattern.js';

describe('the pattern', () => {
  it.each([
    [['lock:'], 'lock:*'],
    [['lock:', 'bull:'], '[lb][ou][cl][kl]:*'],
    [['lock:', 'l*'], 'l[o\\*]*'],
    [['lock:', 'lock:pay:'], 'lock:*'],
    [['a]', 'b-', 'c^'], '[abc][\\]\\-\\^]*'],
    [['lo?k'], 'lo\\?k*'],
  ])('of %j is %s', (prefixes, pattern) => {
    expect(String(lockKeys(prefixes).pattern)).toBe(pattern);
  });
});

it('a prefix that begins with another is no prefix of its own; twice the same is once', () => {
  const { prefixes, exact } = lockKeys(['lock:pay:', 'lock:', 'lock:']);
  expect([prefixes.map(String), exact]).toEqual([['lock:'], true]);
});

it('keys match byte for byte, fence keys never', () => {
  const { matches } = lockKeys(['schloß:', 'app:']);
  expect(matches(Buffer.from('schloß:1').toString('latin1'))).toBe(true);
  expect(matches('schlos:1')).toBe(false);
  expect(matches('app:1')).toBe(true);
  expect(matches('app:redis-lock-fence:{app:1}')).toBe(false);
});
