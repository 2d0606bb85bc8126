import { expect, it } from 'vitest';
import type { RedisReason } from '../../../../contract/outcomes.js';
import type { DataSet } from '../../../../exporter/sampler/data-set.js';
import { lockKeys } from '../../../../exporter/sampler/key-pattern.js';
import { KeyspaceView } from '../../../../exporter/sampler/keyspace-view.js';
import { NodeSweeper } from '../../../../exporter/sampler/node-sweeper.js';
import { StepFailure, type StepReply } from '../../../../exporter/sampler/step.js';
import { FakeClock } from '../../../support/clocks.js';

const LIMITS = { deadlineMs: 10_000, maxKeys: 1 };

const dataSet = (name: string | null, flushes = 0, keys = 0): DataSet => ({ name, flushes, keys });

/** A node whose every step finds one more lock and cuts the sweep, and where each step began. */
function cutNode() {
  const cursors: string[] = [];
  const state = { connections: 1, data: dataSet('one') as DataSet | StepFailure };
  const redis = {
    fault: () => undefined,
    explain: (reason: RedisReason) => reason,
    untilReady: async () => {},
    connections: () => state.connections,
    reconnect() {},
  };
  const step = async ({ cursor }: { cursor: string }): Promise<StepReply> => {
    cursors.push(cursor);
    const bytes = Buffer.from(`lock:${cursors.length}`);
    const key = { bytes, start: 0, end: bytes.length, leftMs: null, type: 'string', owner: null };
    return { cursor: `${cursors.length}`, serverUs: 1, costUs: 1, vanished: 0, moved: 0, keys: [key] };
  };
  const readDataSet = async () => {
    if (state.data instanceof StepFailure) throw state.data;
    return state.data;
  };
  const node = {
    name: 'n',
    redis,
    step,
    readDataSet,
    lookAt: async () => ({ moment: { serverUs: 1, serverId: null }, sights: [], costUs: 0 }),
  };
  const view = new KeyspaceView(() => 'r');
  const tools = { view, lockKeys: lockKeys(['lock:']), dutyShare: 1, stopping: () => false };
  const sweeper = new NodeSweeper({ ...tools, clock: new FakeClock() });
  const known = () => Array.from(view.values(), ({ keyBytes }) => keyBytes);
  return { sweep: () => sweeper.sweep(node, LIMITS), sweeper, state, cursors, known };
}

it.each([
  ['the same data over the same connection', dataSet('one'), 1, ['0', '1']],
  ['the same data over another connection', dataSet('one'), 2, ['0', '1']],
  ['other data over the same connection', dataSet('two'), 1, ['0', '0']],
  ['as many keys after FLUSHDB: it was for another database', dataSet('one', 1, 1), 1, ['0', '1']],
  ['fewer keys after FLUSHDB', dataSet('one', 1, 0), 1, ['0', '0']],
  ['data that cannot be named, over the same connection', dataSet(null), 1, ['0', '1']],
  ['data that cannot be named, over another connection', dataSet(null), 2, ['0', '0']],
])('a cut round and then %s', async (_, data, connections, expected) => {
  const { sweep, sweeper, state, cursors, known } = cutNode();
  await sweep();
  Object.assign(state, { data, connections });
  await sweep();
  const goesOn = expected[1] === '1';
  expect(cursors).toEqual(expected);
  expect(sweeper.resumed).toBe(goesOn);
  expect(known()).toEqual(goesOn ? ['lock:1', 'lock:2'] : ['lock:2']);
});

it('a server that does not even name its data is not asked for more', async () => {
  const { sweep, state, cursors } = cutNode();
  state.data = new StepFailure('command_timeout');
  expect(await sweep()).toMatchObject({ kind: 'failed', reason: 'command_timeout' });
  expect(cursors).toEqual([]);
});
