import { createLedger } from '../../../../exporter/ledger/ledger.js';
import { isNotOwned, type TrueAnswer, type TrueHold, type Truth } from './truth.js';

/** Why an overlap that happened cannot be claimed: what docs/adr/0006 and the contract leave out. */
export type BlindSpot =
  /** The hold, or whoever came in, had no fence. */
  | 'no_fence'
  /** No answer to the release came, so nothing is known. */
  | 'no_answer'
  /** The connection broke on the way: the answer may be to a second send. */
  | 'doubtful_answer'
  /** The key holds the own token again: a stray acquire was carried out. */
  | 'own_again'
  /** It is not known which server answered, so its times compare with nothing. */
  | 'unknown_server'
  /** The server that answered did not see it. */
  | 'other_server'
  /** The fence key is gone: flushed. */
  | 'fence_gone'
  /** Another grant followed after the work had settled, and only the latest is told. */
  | 'later_grant'
  /** The later grant has a lower fence: a server whose clock lags. */
  | 'lower_fence'
  /** Within the way of the answer before the end of the work. */
  | 'round_trip';

/** Clocks of servers are whole µs, times here are ms: what may be lost in rounding. */
const ROUNDING_MS = 0.002;

/** The owners of whose holds the exporter's ledger claims an overlap, once for each claim. Each event is a batch. */
export function claimedOverlaps(truth: Truth): string[] {
  const ledger = createLedger({ store: 'default' });
  let receivedMonoMs = 0;
  return truth.told.flatMap(({ event, atMs, process, serverId }, index) => {
    receivedMonoMs = Math.max(receivedMonoMs, atMs);
    const findings = ledger.applyEvent(event, {
      store: 'default',
      producer: `producer-${process}`,
      seq: index + 1,
      app: 'model',
      instance: String(process),
      startedAtMs: 0,
      serverId,
      receivedMonoMs,
      closing: false,
    });
    return findings.flatMap((finding) => (finding.kind === 'overlap' ? [finding.holder.owner ?? ''] : []));
  });
}

/** Why the overlap of a hold need not be claimed; undefined: it must be. */
export function blindSpot(truth: Truth, hold: TrueHold): BlindSpot | undefined {
  const intruders = truth.intruders(hold).filter(({ fence }) => fence !== null);
  const { fence } = hold.lease;
  if (fence === null || intruders.length === 0) return 'no_fence';
  const ending = truth.eventsOf(hold.owner).find(({ event }) => event.kind === 'release')?.event;
  const answer = finalAnswer(truth, hold);
  if (ending?.kind !== 'release' || answer === undefined) return 'no_answer';
  if (ending.outcome === 'released') return 'own_again';
  if (ending.outcome === 'unknown' && ending.reason === 'connection') return 'doubtful_answer';
  if ((ending.outcome !== 'expired' && ending.outcome !== 'stolen') || !isNotOwned(answer.reply))
    return 'no_answer';
  if (ending.settledUs === undefined) return 'unknown_server';
  const here = intruders.filter(({ server }) => server === answer.server);
  if (here.length === 0) return 'other_server';
  if (answer.reply.latestFence === null) return 'fence_gone';
  const latest = truth.grants.findLast(
    (grant) =>
      grant.server === answer.server &&
      grant.key === hold.key &&
      grant.fence !== null &&
      grant.order < answer.order,
  );
  if (latest === undefined || !here.includes(latest)) return 'later_grant';
  if ((latest.fence ?? 0) <= fence) return 'lower_fence';
  const wayBackMs = (truth.receivedMs.get(answer.reply) ?? 0) - answer.atMs;
  const settledMs = hold.settled?.atMs ?? 0;
  return latest.atMs + wayBackMs + ROUNDING_MS >= settledMs ? 'round_trip' : undefined;
}

/** The answer that the client's `release` event speaks of. */
export function finalAnswer(truth: Truth, hold: TrueHold): TrueAnswer | undefined {
  const settled = hold.settled?.order ?? Number.POSITIVE_INFINITY;
  const answers = truth.releases.get(hold.token) ?? [];
  return answers.find(({ order, reply }) => order > settled && truth.receivedMs.has(reply));
}
