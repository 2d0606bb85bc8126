import { expect, it } from 'vitest';
import { samplingHint } from '../../../exporter/sampling-hint.js';

it('a missing right may be one of commands or of keys: both are named, a pattern for each prefix', () => {
  const hint = samplingHint('no_permission', { keyPrefixes: ['lock:', 'a[b]*:'] });
  expect(hint).toContain('the commands of docs/operations.md');
  expect(hint?.endsWith('~lock:* ~a\\[b]\\*:*')).toBe(true);
});

it('many prefixes do not make the line endless', () => {
  const keyPrefixes = Array.from({ length: 40 }, (_, n) => `p${n}:`);
  expect(samplingHint('no_permission', { keyPrefixes })).toMatch(/~p15:\* …$/);
});

it('a wrong password names its options; most reasons need no hint', () => {
  expect(samplingHint('no_auth', { keyPrefixes: ['lock:'] })).toContain('--redis-password-file');
  expect(samplingHint('connection', { keyPrefixes: ['lock:'] })).toBeUndefined();
  expect(samplingHint(undefined, { keyPrefixes: ['lock:'] })).toBeUndefined();
});
