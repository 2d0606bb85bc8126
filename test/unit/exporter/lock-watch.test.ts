import { expect, it } from 'vitest';
import type { BatchFacts } from '../../../exporter/ledger/ports.js';
import { LockWatch } from '../../../exporter/lock-watch.js';
import { FakeClock } from '../../support/clocks.js';
import { acquired } from './ledger/events.js';
import { makeMetrics, readSeries } from './metrics/page-reader.js';

const WINDOW_MS = 60_000;
const SERIES = 'redis_lock_hot_attempts{store="orders",resource="stock",lock="0123456789abcdef"}';

/** A watch whose ticks come when the test says so. */
function makeWatch() {
  const clock = new FakeClock();
  const metrics = makeMetrics({ clock });
  const watch = new LockWatch({
    store: 'orders',
    clock,
    random: () => 0.5,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    metrics,
    reportFault: (error) => {
      throw error;
    },
    sampledKeys: () => [],
  });
  const acquire = (attempts: number) => {
    const about = { app: 'shop', instance: 'i', startedAtMs: 1, serverId: 's1', closing: false };
    const batch: BatchFacts = {
      ...about,
      store: 'orders',
      producer: 'p',
      seq: 1,
      receivedMonoMs: clock.monoMs(),
    };
    watch.applyEvent(acquired({ attempts }), batch);
  };
  const shown = async () => (await readSeries(metrics)).get(SERIES);
  return { clock, watch, acquire, shown };
}

it('a window of hot locks that an event closed before the tick came is shown', async () => {
  const { clock, watch, acquire, shown } = makeWatch();
  acquire(7);
  await clock.advance(WINDOW_MS + 500);
  acquire(1);
  expect(await shown()).toBeUndefined();
  watch.tick();
  expect(await shown()).toBe(7);
});

it('a window of hot locks that a question closed before the tick came is shown', async () => {
  const { clock, watch, acquire, shown } = makeWatch();
  acquire(7);
  await clock.advance(WINDOW_MS + 500);
  expect(watch.hot(10)).toMatchObject({ windowComplete: true, attempts: 7 });
  watch.tick();
  expect(await shown()).toBe(7);
});

it('a window that nobody else closed is shown by the tick, until the next is over', async () => {
  const { clock, watch, acquire, shown } = makeWatch();
  acquire(7);
  await clock.advance(WINDOW_MS);
  watch.tick();
  expect(await shown()).toBe(7);
  acquire(3);
  watch.tick();
  expect(await shown()).toBe(7);
  await clock.advance(WINDOW_MS);
  watch.tick();
  expect(await shown()).toBe(3);
});
