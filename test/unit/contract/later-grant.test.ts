import { describe, expect, it } from 'vitest';
import { wasGrantedBeforeEnd } from '../../../contract/index.js';

const OVERLAPPED = { fence: 100, latestFence: 101, latestGrantUs: 4_999, settledUs: 5_000 };

describe('another was granted before the work settled', () => {
  it.each([
    ['a later fence, granted before the end', {}, true],
    ['granted at the very end', { latestGrantUs: 5_000 }, false],
    ['granted after the end', { latestGrantUs: 5_001 }, false],
    ['the own fence', { latestFence: 100 }, false],
    ['an earlier fence', { latestFence: 99 }, false],
    ['no fence of the own', { fence: undefined }, false],
    ['no later fence', { latestFence: undefined }, false],
    ['only the time of the grant', { settledUs: undefined }, false],
    ['only the time of the end', { latestGrantUs: undefined }, false],
    ['neither time: the fences alone', { settledUs: undefined, latestGrantUs: undefined }, true],
  ])('%s', (_, change, expected) => {
    expect(wasGrantedBeforeEnd({ ...OVERLAPPED, ...change })).toBe(expected);
  });
});
