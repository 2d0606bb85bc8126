import { describe, expect, it } from 'vitest';
import { Heartbeat, heartbeatMs } from '../../../../client/emitter/heartbeat.js';
import { FakeClock } from '../../../support/clocks.js';
import { hold, TestSource } from './test-events.js';

function setUp() {
  const clock = new FakeClock();
  const source = new TestSource();
  const beats: number[] = [];
  const startMs = clock.monoMs();
  const heartbeat = new Heartbeat(clock, source, () => {
    beats.push(clock.monoMs() - startMs);
    heartbeat.sent();
  });
  return { clock, source, beats, heartbeat };
}

describe('Heartbeat', () => {
  it('has no timer while nothing is held', async () => {
    const { clock, heartbeat } = setUp();
    heartbeat.holdsChanged();
    heartbeat.sent();
    expect(clock.pendingTimers).toBe(0);
  });

  it('beats every second for short leases and every fifth of the lease for long ones', async () => {
    const { clock, source, beats, heartbeat } = setUp();
    source.held = [hold(1, 20_000)];
    heartbeat.holdsChanged();
    await clock.advance(8000);
    expect(beats).toEqual([4000, 8000]);
    source.held.push(hold(2, 300));
    heartbeat.holdsChanged();
    await clock.advance(2000);
    expect(beats).toEqual([4000, 8000, 9000, 10_000]);
  });

  it('falls back to the slow beat when the short lease is over', async () => {
    const { clock, source, beats, heartbeat } = setUp();
    source.held = [hold(1, 300), hold(2, 20_000)];
    heartbeat.holdsChanged();
    await clock.advance(1000);
    source.held = [hold(2, 20_000)];
    heartbeat.holdsChanged();
    await clock.advance(8000);
    expect(beats).toEqual([1000, 5000, 9000]);
  });

  it('counts every batch as a beat', async () => {
    const { clock, source, beats, heartbeat } = setUp();
    source.held = [hold(1)];
    heartbeat.holdsChanged();
    for (let batch = 0; batch < 6; batch += 1) {
      await clock.advance(700);
      heartbeat.sent();
    }
    expect(beats).toEqual([]);
    await clock.advance(1000);
    expect(beats).toEqual([5200]);
  });

  it('stops within one beat after the last hold, and starts again with the next', async () => {
    const { clock, source, beats, heartbeat } = setUp();
    source.held = [hold(1)];
    heartbeat.holdsChanged();
    source.held = [];
    heartbeat.holdsChanged();
    await clock.advance(1000);
    expect(clock.pendingTimers).toBe(0);
    expect(beats).toEqual([]);
    source.held = [hold(2)];
    heartbeat.holdsChanged();
    await clock.advance(1000);
    expect(beats).toEqual([2000]);
  });

  it('sets no timer for a grant or an ending while one is running at the shortest time', () => {
    const { clock, source, heartbeat } = setUp();
    source.held = [hold(1)];
    heartbeat.holdsChanged();
    source.shortestLeaseMs = () => expect.unreachable('asked for the leases of all holds');
    for (let change = 0; change < 100; change += 1) heartbeat.holdsChanged();
    expect(clock.pendingTimers).toBe(1);
  });

  it('takes at least a second whatever the lease', () => {
    expect(heartbeatMs(undefined)).toBe(1000);
    expect(heartbeatMs(1)).toBe(1000);
    expect(heartbeatMs(10_000)).toBe(2000);
    expect(heartbeatMs(86_400_000)).toBe(5000);
  });
});
