import { expect, test } from 'vitest';
import type { Answer } from '../../../client/command.js';
import { judgeEnding, type SettledHold } from '../../../client/ending.js';
import { ServerEpoch } from '../../../client/server-epochs.js';
import type { ReleaseReply } from '../../../lua/replies.js';

const hold: SettledHold = { fence: 41, leaseEndMs: 1000, settledUs: 500_000, wasLost: false };

function answer(reply: ReleaseReply, receivedMs = 600, mayBeResent = false): Answer<ReleaseReply> {
  return { ok: true, reply, sentMs: 500, receivedMs, epoch: new ServerEpoch(true), mayBeResent };
}

function gone(
  latestFence: number | null,
  latestGrantUs: number | null,
  word: 'expired' | 'stolen' = 'expired',
) {
  return { word, serverUs: 600_000, latestFence, latestGrantUs } as const;
}

test('gone while the lease still ran: lost', () => {
  expect(judgeEnding(answer(gone(41, 1)), hold)).toMatchObject({
    result: { outcome: 'expired' },
    foundLost: true,
  });
});

test('gone, but the answer took until the lease was over: the work was within its lease', () => {
  expect(judgeEnding(answer(gone(41, 1), 1000), hold)).toMatchObject({
    result: { outcome: 'expired' },
    foundLost: false,
  });
});

test('another was granted before the work settled: lost, however late the answer', () => {
  expect(judgeEnding(answer(gone(42, 499_999, 'stolen'), 2000), hold)).toMatchObject({ foundLost: true });
  expect(judgeEnding(answer(gone(42, 500_001, 'stolen'), 2000), hold)).toMatchObject({ foundLost: false });
});

test('an answer to a release that may have been sent twice proves no loss: the first may have deleted the lock', () => {
  expect(judgeEnding(answer(gone(41, 1), 600, true), hold)).toEqual({
    result: { outcome: 'unknown', reason: 'connection' },
    foundLost: false,
    gone: undefined,
    needsCleanUp: false,
  });
});

test('though sent twice, a grant to another before the work settled is a loss', () => {
  expect(judgeEnding(answer(gone(42, 400_000, 'stolen'), 600, true), hold)).toMatchObject({
    result: { outcome: 'stolen', latestFence: 42 },
    foundLost: true,
  });
});

test('a loss that was told already is not found again', () => {
  expect(judgeEnding(answer(gone(42, 1)), { ...hold, wasLost: true })).toMatchObject({ foundLost: false });
});

test('without a fence nothing is known of others', () => {
  expect(judgeEnding(answer(gone(null, null), 2000), { ...hold, fence: undefined })).toMatchObject({
    foundLost: false,
  });
});

test.each([
  ['loading', true],
  ['readonly', true],
  ['no_permission', false],
] as const)('a release that failed with %s is tried again: %s', (reason, needsCleanUp) => {
  const failure = { reason, notDone: true, cause: undefined };
  const failed = { ok: false, failure, sentMs: 500, receivedMs: 600 } as const;
  expect(judgeEnding(failed, hold)).toMatchObject({ result: { outcome: 'error', reason }, needsCleanUp });
});
