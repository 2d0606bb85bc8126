import { expect, it } from 'vitest';
import type { BatchFacts, SweptKey } from '../../../exporter/ledger/ports.js';
import { LockWatch } from '../../../exporter/lock-watch.js';
import { FakeClock } from '../../support/clocks.js';
import { acquired, HOLD } from './ledger/events.js';
import { makeMetrics, readSeries } from './metrics/page-reader.js';

const WINDOW_MS = 60_000;
const SERIES = 'redis_lock_hot_attempts{store="orders",resource="stock",lock="0123456789abcdef"}';

/** A watch whose ticks come when the test says so. */
function makeWatch(sampledKeys: () => SweptKey[] = () => []) {
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
    sampledKeys,
  });
  const acquire = (attempts: number, change = {}, closing = false) => {
    const about = { app: 'shop', instance: 'i', startedAtMs: 1, serverId: 's1', closing };
    const batch: BatchFacts = {
      ...about,
      store: 'orders',
      producer: 'p',
      seq: 1,
      receivedMonoMs: clock.monoMs(),
    };
    watch.applyEvent(acquired({ attempts, ...change }), batch);
    watch.heartbeat(batch);
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

const GRANT_US = 1_796_000_000_000_000;
const LEASE_MS = 60_000;
const SAMPLE_MS = 10_000;

/**
 * What is found in five samples of a key whose client said goodbye without a release. @param riseMs of its expiry, from one
 * sample to the next, by Redis's clock
 */
async function findOfLeftKey(riseMs: number, betweenSamples: (clock: FakeClock) => void): Promise<string[]> {
  let sample = 0;
  const { clock, watch, acquire } = makeWatch(() => {
    const aheadMs = LEASE_MS + sample * riseMs;
    const seen = { lastSeenUs: GRANT_US + sample * SAMPLE_MS * 1000, expiresUs: GRANT_US + aheadMs * 1000 };
    return [{ resource: 'stock', owner: HOLD.owner, leftMs: aheadMs - sample * SAMPLE_MS, ...seen }];
  });
  acquire(1, { serverUs: GRANT_US, leaseMs: LEASE_MS }, true);
  for (sample = 0; sample < 5; sample += 1) {
    watch.sampled();
    await clock.advance(SAMPLE_MS);
    betweenSamples(clock);
  }
  return watch.findings().findings.map(({ kind }) => kind);
}

it('a key that was left behind is no zombie’s though this machine’s wall clock was set twice', async () => {
  expect(await findOfLeftKey(0, (clock) => clock.jumpWall(60_000))).toEqual([]);
});

it('it is when its expiry rises by Redis’s clock, though the wall clock was set back by as much', async () => {
  const found = await findOfLeftKey(20_000, (clock) => clock.jumpWall(-20_000));
  expect(found).toEqual(['zombie_renewal', 'zombie_renewal', 'zombie_renewal']);
});
