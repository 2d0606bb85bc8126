import { expect, it } from 'vitest';
import type { RedisReason } from '../../../../contract/outcomes.js';
import { singleServer } from '../../../../exporter/sampler/deployment.js';
import { lockKeys } from '../../../../exporter/sampler/key-pattern.js';
import { KeyspaceSource } from '../../../../exporter/sampler/keyspace-source.js';
import { KeyspaceView } from '../../../../exporter/sampler/keyspace-view.js';
import type { Schedule } from '../../../../exporter/sampler/ports.js';
import { createSampler, type SamplerOptions } from '../../../../exporter/sampler/sampler.js';
import { type SampleStep, StepFailure, type StepReply } from '../../../../exporter/sampler/step.js';
import { RecordedSamples } from '../../../redis/exporter/sampler/recorded-samples.js';
import { FakeClock } from '../../../support/clocks.js';

const EMPTY: StepReply = { cursor: '0', serverUs: 1, costUs: 10, vanished: 0, moved: 0, keys: [] };
const LOCK = { bytes: Buffer.from('lock:a'), start: 0, end: 6, leftMs: 5, type: 'string', owner: null };

function make(step: SampleStep, options: Partial<SamplerOptions> & { classify?: () => string } = {}) {
  const clock = new FakeClock();
  const records = new RecordedSamples();
  const faults: unknown[] = [];
  const redis = {
    fault: () => undefined,
    explain: (reason: RedisReason) => reason,
    untilReady: async () => {},
    onReady() {},
    connections: () => 1,
    batch: async () => [],
    call: async () => null,
    close() {},
    reconnects: 0,
    reconnect() {
      this.reconnects += 1;
    },
  };
  const lookAt = async () => ({ moment: { serverUs: 1, serverId: null }, sights: [], costUs: 0 });
  const readDataSet = async () => ({ name: 'data', flushes: 0, keys: 0 });
  const { classify = () => 'r', ...rest } = options;
  const source = new KeyspaceSource({
    deployment: singleServer({ name: 'only', redis, step, lookAt, readDataSet }),
    view: new KeyspaceView(classify),
    lockKeys: lockKeys(['lock:']),
    dutyShare: 0.01,
    limits: { deadlineMs: 10_000, maxKeys: 1000 },
    clock,
    stopping: () => sampler.state().status === 'stopped',
  });
  const schedule = (): Schedule => ({ msToNext: () => 15_000, stop() {} });
  const sampler = createSampler({
    store: 's',
    source,
    onReady() {},
    schedule,
    deadlineMs: 10_000,
    clock,
    port: records,
    reportFault: (error) => faults.push(error),
    ...rest,
  });
  return { sampler, records, clock, redis, faults };
}

it('before the first look there is no sample, and that is said', async () => {
  const { sampler, records } = make(async () => EMPTY);
  sampler.start();
  expect([records.up, sampler.state().status]).toEqual(['starting', 'starting']);
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
  expect([records.up, sampler.state()]).toMatchObject(['stale', { status: 'stale', reason: 'stale' }]);
  await sampler.tick();
  expect(sampler.state().status).toBe('ok');
});

it('a sample stays good as long as the share of the server’s time forbids another', async () => {
  const { sampler, records, clock } = make(async () => ({ ...EMPTY, costUs: 1_000_000 }));
  sampler.start();
  await sampler.tick();
  await clock.advance(99_000);
  await sampler.tick();
  expect([records.up, records.samples.length, records.skipped]).toEqual(['ok', 1, ['busy', 'duty']]);
  await clock.advance(2000);
  await sampler.tick();
  expect(records.samples.length).toBe(2);
});

it('a sweep that fails in its middle publishes nothing of it', async () => {
  const { sampler, records } = make(async ({ cursor }) => {
    if (cursor === '7') throw new StepFailure('loading');
    return { ...EMPTY, cursor: '7', keys: [LOCK] };
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

it('a fault of the program fails one look with reason other, is reported, and ends nothing', async () => {
  let fault: Error | undefined = new Error('classifier');
  const classify = () => {
    if (fault !== undefined) throw fault;
    return 'r';
  };
  const { sampler, records, faults, clock } = make(async () => ({ ...EMPTY, keys: [LOCK] }), { classify });
  sampler.start();
  await sampler.tick();
  expect([records.up, records.errors, faults]).toEqual(['other', ['other'], [fault]]);
  fault = undefined;
  await clock.advance(1000);
  await sampler.tick();
  expect([records.up, sampler.state().failedLooks]).toEqual(['ok', 1]);
});

it('no step stays under way behind a fault of the program', async () => {
  let under = 0;
  const { sampler, faults } = make(
    async ({ cursor }) => {
      if (cursor === '0') return { ...EMPTY, cursor: '7', keys: [LOCK] };
      under += 1;
      await new Promise((resolve) => setImmediate(resolve));
      under -= 1;
      throw new StepFailure('connection');
    },
    {
      classify: () => {
        throw new Error('classifier');
      },
    },
  );
  await sampler.tick();
  await sampler.stop();
  expect([under, faults.length]).toEqual([0, 1]);
});

it.each(['publishSample', 'withdrawSample', 'sampleError'] as const)(
  'a port that throws in %s ends neither the process nor the sampling',
  async (method) => {
    const port = new RecordedSamples();
    const broken = new Error('port');
    let reason: 'loading' | undefined = method === 'publishSample' ? undefined : 'loading';
    const { sampler, faults, clock } = make(
      async () => {
        if (reason !== undefined) throw new StepFailure(reason);
        return EMPTY;
      },
      { port },
    );
    Object.defineProperty(port, method, {
      configurable: true,
      value: () => {
        throw broken;
      },
    });
    await sampler.tick();
    expect(faults[0]).toBe(broken);
    expect(sampler.state().status).toBe('failed');
    Reflect.deleteProperty(port, method);
    reason = undefined;
    await clock.advance(1000);
    await sampler.tick();
    expect(sampler.state().status).toBe('ok');
  },
);
