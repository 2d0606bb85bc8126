import type { CheckReply } from '../lua/replies.js';
import { latestGrant, notOwned } from './answers.js';
import { type Answer, ask } from './command.js';
import { checkEvent, type LatestGrant } from './events.js';
import type { Hold } from './hold.js';
import type { ClientParts } from './parts.js';
import { WRONG_TYPE } from './redis-errors.js';
import type { CheckResult } from './results.js';

/** What a check that was sent can come to. */
type AskedResult = Exclude<CheckResult, { outcome: 'ended' }>;

/** Asks Redis whether the lock is still the hold's, tells the event, and the loss where there is one. Never rejects. */
export async function runCheck(parts: ClientParts, hold: Hold): Promise<CheckResult> {
  hold.noticeEnd(hold.now());
  if (!hold.isHeld) return { outcome: 'ended' };
  const { commandTimeoutMs } = parts;
  const answer = await ask(parts, commandTimeoutMs, (scripts) => scripts.check(hold.grant.args));
  // The work has settled meanwhile: an answer from after that says nothing of it, and its release is the last to be told.
  if (hold.isSettled) return { outcome: 'ended' };
  const { result, latest } = judge(answer);
  parts.events.emit(checkEvent(parts.moment(hold.learn(answer)), hold.identity, result, latest));
  return conclude(hold, answer, result);
}

function judge(answer: Answer<CheckReply>): { result: AskedResult; latest: LatestGrant } {
  if (!answer.ok) {
    const { reason, cause } = answer.failure;
    return { result: { outcome: 'error', reason, cause }, latest: {} };
  }
  const { reply } = answer;
  switch (reply.word) {
    case 'held':
      return { result: { outcome: 'held', leftMs: reply.leftMs }, latest: {} };
    case 'expired':
    case 'stolen':
      return { result: notOwned(reply), latest: latestGrant(reply) };
    case 'wrong_type':
      return { result: { outcome: 'error', reason: WRONG_TYPE.reason }, latest: {} };
    default:
      return reply satisfies never;
  }
}

/** The local deadline may have passed while Redis answered: then "held" is no news to build on. */
function conclude(hold: Hold, answer: Answer<CheckReply>, result: AskedResult): CheckResult {
  hold.noticeEnd(answer.receivedMs);
  if (answer.ok && answer.reply.word === 'wrong_type') hold.lose('check', answer.receivedMs);
  if (answer.ok && (answer.reply.word === 'expired' || answer.reply.word === 'stolen')) {
    hold.lose('check', answer.receivedMs, answer.reply);
  }
  return result.outcome === 'held' && !hold.isHeld ? { outcome: 'ended' } : result;
}
