import { expect, it } from 'vitest';
import { growthPercent, watchHeapGrowth } from '../../../exporter/heap-growth.js';
import { FakeClock } from '../../support/clocks.js';

const MB = 1e6;
const SLOW = 30;
const FIRST = ['--heap-growing-percent=30', '--heap-growing-percent=0'];

it.each([
  ['a calm process collects in time', 20 * MB, 0.1, 0, SLOW],
  ['a busy one as V8 likes', 20 * MB, 0.9, SLOW, 0],
  ['a large heap grows slowly, busy or not', 190 * MB, 0.9, 0, SLOW],
  ['one that is just below large after a collection stays one', 80 * MB, 0.9, SLOW, SLOW],
  ['and one that was never large is none', 80 * MB, 0.9, 0, 0],
  ['neither calm nor busy: as before, slow', 20 * MB, 0.45, SLOW, SLOW],
  ['neither calm nor busy: as before, fast', 20 * MB, 0.45, 0, 0],
])('%s', (_what, usedBytes, busyShare, before, expected) => {
  expect(growthPercent(usedBytes, busyShare, before)).toBe(expected);
});

it('a flag is set only when the growth changes', async () => {
  const clock = new FakeClock();
  const flags: string[] = [];
  let share = 0.9;
  const engine = {
    usedBytes: () => 20 * MB,
    busyShare: () => share,
    setFlag: (flag: string) => flags.push(flag),
  };
  watchHeapGrowth(clock, engine);
  expect(flags).toEqual(['--heap-growing-percent=30']);
  await clock.advance(20_000);
  expect(flags).toEqual(FIRST);
  share = 0.1;
  await clock.advance(20_000);
  expect(flags).toEqual([...FIRST, '--heap-growing-percent=30']);
});

it('a burst of some seconds makes no process busy', async () => {
  const clock = new FakeClock();
  const flags: string[] = [];
  const shares = [0, 1, 1, 0, 0, 0, 1, 1];
  const busyShare = () => shares.shift() ?? 0;
  watchHeapGrowth(clock, { usedBytes: () => 20 * MB, busyShare, setFlag: (flag) => flags.push(flag) });
  await clock.advance(30_000);
  expect(flags).toEqual(['--heap-growing-percent=30']);
});
