import type { ModelHistory } from './model-history.js';
import { blindSpot, claimedOverlaps } from './overlaps.js';

/** Everything of interest that a history came to, so that a test can prove it has met each. */
export function situationsOf(history: ModelHistory): ReadonlySet<string> {
  return new Set([...history.situations, ...ofEvents(history), ...ofHolds(history), ...ofTokens(history)]);
}

function ofEvents({ truth }: ModelHistory): string[] {
  return truth.events.map(({ event }) => {
    if (event.kind === 'lost') return `lost by ${event.by}`;
    if (event.kind === 'acquire' && 'reason' in event && event.outcome !== 'error')
      return `acquire ${event.outcome} (${event.reason})`;
    return 'outcome' in event ? `${event.kind} ${event.outcome}` : event.kind;
  });
}

function ofHolds({ truth }: ModelHistory): string[] {
  const claims = new Set(claimedOverlaps(truth));
  return truth.holds.flatMap((hold) => {
    const found: string[] = [];
    const wasLost = truth.eventsOf(hold.owner).some(({ event }) => event.kind === 'lost');
    const happened = truth.intruders(hold).length > 0;
    if (wasLost) found.push(happened ? 'lost, and another came in' : 'lost, but nobody came in');
    if (happened)
      found.push(claims.has(hold.owner) ? 'overlap claimed' : `overlap unseen: ${blindSpot(truth, hold)}`);
    if (hold.releases > 1) found.push('released twice');
    return found;
  });
}

/** Tokens that were granted and never became a lease. */
function ofTokens({ truth }: ModelHistory): string[] {
  const held = new Set(truth.holds.map(({ token }) => token));
  return [...truth.releases].flatMap(([token, answers]) => {
    const words = answers.map(({ reply }) => reply.word);
    if (!held.has(token))
      return words.includes('released') ? ['orphan cleaned up'] : ['clean-up for nothing'];
    return words.length > 1 ? ['release tried again'] : [];
  });
}

/** What the histories together must have met: else they have become blind. */
export const SITUATIONS: readonly string[] = [
  // How calls end.
  ...['acquire acquired', 'acquire contended', 'acquire error'],
  ...['acquire timeout (wait_limit)', 'acquire timeout (deadline)', 'acquire timeout (slow_reply)'],
  ...['acquire aborted (signal)', 'acquire aborted (closed)'],
  ...['acquire unknown (command_timeout)', 'acquire unknown (connection)'],
  ...['aborted while asking', 'aborted while pausing', 'aborted without a connection'],
  // How holds end.
  ...['release released', 'release expired', 'release stolen', 'release error', 'release unknown'],
  ...['lost by deadline', 'lost by renew', 'lost by check', 'lost by release', 'lost by max_hold'],
  ...['lost, but nobody came in', 'lost, and another came in', 'released twice', 'closed midway'],
  // What is asked meanwhile.
  ...['renew renewed', 'renew expired', 'renew stolen', 'renew unknown'],
  ...['check held', 'check expired', 'check error', 'commit'],
  // What servers carry out.
  ...['acquire: own', 'acquire: wrong_type', 'release: wrong_type'],
  ...['stray acquire', 'stray release', 'resent acquire', 'resent release'],
  ...['orphan cleaned up', 'clean-up for nothing', 'release tried again'],
  // What happens to processes, clocks, connections and servers.
  ...['stopped', 'suspended', 'wall clock set', 'monotonic clock leapt', 'cut', 'cut with strays'],
  ...['steal', 'delete', 'spoil', 'flush', 'failover', 'server clock set'],
  // What the exporter can prove, and what it cannot.
  ...['overlap claimed', 'overlap unseen: no_fence', 'overlap unseen: no_answer'],
  // The others are too rare to be asked for: two clients' reports side by side leave little unseen.
];
