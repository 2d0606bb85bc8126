import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { scaleRouting, toSeconds } from '../../../alerts/source/routing.js';
import { readAlertsFile } from './shipped.js';

const shipped = readAlertsFile('alertmanager.yml');

/** Every value of these keys, in the order of the file. */
const timesIn = (text: string) =>
  [...text.matchAll(/^\s+(?:group_\w+al|group_wait|repeat_interval): (\w+)$/gm)].map(([, time = '']) =>
    toSeconds(time),
  );

describe('routing for a live proof', () => {
  it('has every time of every route divided by the factor, and nothing else changed', () => {
    const fast = scaleRouting(shipped, 30);
    expect(timesIn(shipped).length).toBeGreaterThan(8);
    for (const [index, seconds] of timesIn(shipped).entries())
      expect(timesIn(fast)[index]).toBeCloseTo(seconds / 30, 3);
    const withoutTimes = (text: string) =>
      JSON.stringify(parse(text), (key, value) => (/^(group_wait|\w+_interval)$/.test(key) ? '' : value));
    expect(withoutTimes(fast)).toBe(withoutTimes(shipped));
  });

  it('refuses what is no time', () => {
    expect(() => scaleRouting('route: {group_wait: soon}', 2)).toThrow('"soon" is not a time such as 30s');
  });
});
