import { expect, it } from 'vitest';
import type { Schedule } from '../../../../exporter/sampler/ports.js';
import { createSampler, type SamplerOptions } from '../../../../exporter/sampler/sampler.js';
import { type SampleStep, StepFailure, type StepReply } from '../../../../exporter/sampler/step.js';
import { RecordedSamples } from '../../../redis/exporter/sampler/recorded-samples.js';
import { FakeClock } from '../../../support/clocks.js';

const EMPTY: StepReply = { cursor: '0', serverUs: 1, costUs: 10, vanished: 0, moved: 0, keys: [] };

function make(step: SampleStep, options: Partial<SamplerOptions> = {}) {
  const clock = new FakeClock();
  const records = new RecordedSamples();
  const redis = {
    fault: () => undefined,
    untilReady: async () => {},
    onReady() {},
    reconnects: 0,
    reconnect() {
      this.reconnects += 1;
    },
  };
  const schedule = (): Schedule => ({ msToNext: () => 15_000, stop() {} });
  const sampler = createSampler({
    store: 's',
    redis,
    step,
    keyPrefixes: ['lock:'],
    classify: () => 'r',
    schedule,
    dutyShare: 0.01,
    clock,
    port: records,
    ...options,
  });
  return { sampler, records, clock, redis };
}

it('before the first look there is no sample, and that is said', async () => {
  const { sampler, records } = make(async () => EMPTY);
  sampler.start();
  expect([records.up, sampler.state().status]).toEqual(['connection', 'starting']);
  await sampler.tick();
  expect([records.up, sampler.state().status]).toEqual(['ok', 'ok']);
});

it('a sample that no later one replaces is withdrawn as stale, not frozen', async () => {
  const { sampler, records, clock } = make(async () => EMPTY);
  sampler.start();
  await sampler.tick();
  await clock.advance(40_000);
  expect(records.up).toBe('ok');
  await clock.advance(40_000);
  expect([records.up, sampler.state().status]).toEqual(['other', 'stale']);
  await sampler.tick();
  expect(sampler.state().status).toBe('ok');
});

it('a sample stays good as long as the share of the server’s time forbids another', async () => {
  const { sampler, records, clock } = make(async () => ({ ...EMPTY, costUs: 1_000_000 }));
  sampler.start();
  await sampler.tick();
  await clock.advance(99_000);
  await sampler.tick();
  expect([records.up, records.samples.length, sampler.state().skippedTicks]).toEqual(['ok', 1, 1]);
  await clock.advance(2000);
  await sampler.tick();
  expect(records.samples.length).toBe(2);
});

it('a sweep that fails in its middle publishes nothing of it', async () => {
  const key = { key: Buffer.from('lock:a'), leftMs: 5, type: 'string', owner: null };
  const { sampler, records } = make(async ({ cursor }) => {
    if (cursor === '7') throw new StepFailure('loading');
    return { ...EMPTY, cursor: '7', keys: [key] };
  });
  await sampler.tick();
  expect([records.samples.length, records.up, [...sampler.locks()]]).toEqual([0, 'loading', []]);
});

it('after a command timed out the connection is made anew', async () => {
  const { sampler, redis } = make(() => Promise.reject(new StepFailure('command_timeout')));
  await sampler.tick();
  expect(redis.reconnects).toBe(1);
});

it('an empty step is not the end: only cursor 0 is (B2)', async () => {
  const cursors = ['5', '9', '0'];
  const { sampler } = make(async () => ({ ...EMPTY, cursor: cursors.shift() ?? '0' }));
  await sampler.tick();
  expect(sampler.state().last?.steps).toBe(3);
});

it('the deadline cuts a sweep, and the next one resumes there', async () => {
  const asked: string[] = [];
  const { sampler, records, clock } = make(async ({ cursor }) => {
    asked.push(cursor);
    clock.jumpMono(6000);
    return { ...EMPTY, cursor: cursor === '22' ? '0' : cursor === '11' ? '22' : '11' };
  });
  await sampler.tick();
  await sampler.tick();
  expect(asked).toEqual(['0', '11', '22']);
  expect(records.samples.map(({ truncated }) => truncated)).toEqual([true, true]);
  await sampler.tick();
  expect(asked.at(3)).toBe('0');
});

it('stop waits for the running sweep, which gives up between two steps and publishes nothing', async () => {
  let steps = 0;
  const { sampler, records } = make(async () => {
    steps += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return { ...EMPTY, cursor: '1' };
  });
  const sweep = sampler.tick();
  await sampler.stop();
  await sweep;
  expect([steps <= 2, records.samples.length, sampler.state().status]).toEqual([true, 0, 'stopped']);
  await sampler.tick();
  expect(steps).toBeLessThanOrEqual(2);
});

it('only changes are announced, not each sweep', async () => {
  const seen: string[] = [];
  let failing = false;
  const step: SampleStep = async () => {
    if (failing) throw new StepFailure('loading');
    return EMPTY;
  };
  const { sampler, clock } = make(step, { onChange: ({ status }) => seen.push(status) });
  for (const next of [false, false, true, true, false]) {
    failing = next;
    await sampler.tick();
    await clock.advance(10);
  }
  expect(seen).toEqual(['ok', 'failed', 'ok']);
});
