import { expect, it } from 'vitest';
import { watchHeapGrowth } from '../../../exporter/heap-growth.js';
import { FakeClock } from '../../support/clocks.js';

it('a large heap grows slowly, a small one as V8 likes, and a flag is set only when that changes', async () => {
  const clock = new FakeClock();
  const flags: string[] = [];
  let usedBytes = 20e6;
  watchHeapGrowth(clock, { usedBytes: () => usedBytes, setFlag: (flag) => flags.push(flag) });
  await clock.advance(10_000);
  expect(flags).toEqual([]);
  usedBytes = 190e6;
  await clock.advance(10_000);
  expect(flags).toEqual(['--heap-growing-percent=30']);
  usedBytes = 20e6;
  await clock.advance(10_000);
  expect(flags).toEqual(['--heap-growing-percent=30', '--heap-growing-percent=0']);
});

it('a heap that is only just large stays one while collections make it a little smaller', async () => {
  const clock = new FakeClock();
  const flags: string[] = [];
  let usedBytes = 110e6;
  watchHeapGrowth(clock, { usedBytes: () => usedBytes, setFlag: (flag) => flags.push(flag) });
  for (const bytes of [80e6, 110e6, 70e6, 101e6]) {
    usedBytes = bytes;
    await clock.advance(2000);
  }
  expect(flags).toEqual(['--heap-growing-percent=30']);
});
