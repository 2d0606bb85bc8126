import type {
  AcquireEvent,
  CheckEvent,
  CommitEvent,
  DuplicateEvent,
  FenceEvent,
  LostEvent,
  ReleaseEvent,
  RenewEvent,
} from '../contract/event.js';
import { MAX_DURATION_MS } from '../contract/event.js';
import { ownerDigest } from '../contract/lock-id.js';
import type { AcquireMode, DuplicateOutcome, FenceOutcome } from '../contract/outcomes.js';
import type { PendingEvent } from './emitter/emitter.js';
import type { Hold } from './hold.js';
import type { LockName } from './lock-name.js';
import type { AcquirePlan } from './options.js';
import type { AcquireFailure, CheckResult, FailedResult, NotOwnedResult, ReleaseResult } from './results.js';
import type { ServerEpoch } from './server-epochs.js';

/** When and by which server something was answered. */
export interface ServerStamp {
  readonly serverUs: number;
  readonly epoch: ServerEpoch;
}

/** What every event of one moment shares. Read when it happened; encoded later. */
export interface Moment {
  readonly atMs: number;
  readonly server: ServerStamp | undefined;
  /** The server that the envelope will name: asked when the batch is built. */
  readonly currentEpoch: () => ServerEpoch;
}

/** What a not-owned answer told. */
export interface LatestGrant {
  readonly latestFence?: number;
  readonly latestGrantUs?: number;
}

/** Facts of one acquire call that its event tells, whatever its outcome. */
export interface AcquireFacts {
  readonly mode: AcquireMode;
  readonly waitMs: number;
  readonly attempts: number;
  readonly plan: AcquirePlan;
  readonly traceId: string | undefined;
}

/** The lock was granted. */
export function acquiredEvent(moment: Moment, hold: Hold, facts: AcquireFacts): PendingEvent {
  return pending<AcquireEvent>(false, () => ({
    ...common(moment, hold.name),
    ...acquireFields(facts),
    outcome: 'acquired',
    owner: hold.owner,
    ...given('fence', hold.fence),
    ...given('keyBase64', hold.name.keyBase64),
  }));
}

/** The lock was not granted. `token`: the one that may be stored, after an unknown outcome. */
export function acquireFailedEvent(
  moment: Moment,
  name: LockName,
  facts: AcquireFacts,
  failure: AcquireFailure,
  token: string,
): PendingEvent {
  return pending<AcquireEvent>(false, () => {
    const fields = { ...common(moment, name), ...acquireFields(facts) };
    switch (failure.outcome) {
      case 'contended':
        return { ...fields, outcome: 'contended' };
      case 'timeout':
        return { ...fields, outcome: 'timeout', reason: failure.reason };
      case 'aborted':
        return { ...fields, outcome: 'aborted', reason: failure.reason };
      case 'error':
        return { ...fields, outcome: 'error', reason: failure.reason };
      case 'unknown':
        return { ...fields, outcome: 'unknown', reason: failure.reason, owner: ownerDigest(token) };
      default:
        return failure satisfies never;
    }
  });
}

/** Facts of one renewal. */
export interface RenewFacts extends LatestGrant {
  readonly leaseMs: number;
  readonly leftMs: number;
  readonly lateMs: number;
}

export function renewEvent(
  moment: Moment,
  hold: Hold,
  result: { outcome: 'renewed' } | NotOwnedResult | FailedResult,
  facts: RenewFacts,
): PendingEvent {
  return pending<RenewEvent>(isNotOwned(result.outcome), () => ({
    ...ofHold(moment, hold),
    ...latest(facts),
    kind: 'renew',
    outcome: result.outcome,
    ...reasonOf(result),
    leaseMs: facts.leaseMs,
    leftMs: duration(facts.leftMs),
    lateMs: duration(facts.lateMs),
  }));
}

export function checkEvent(
  moment: Moment,
  hold: Hold,
  result: Exclude<CheckResult, { outcome: 'ended' }>,
  facts: LatestGrant,
): PendingEvent {
  return pending<CheckEvent>(isNotOwned(result.outcome), () => ({
    ...ofHold(moment, hold),
    ...latest(facts),
    kind: 'check',
    outcome: result.outcome,
    ...reasonOf(result),
  }));
}

/** Facts of a loss. */
export interface LostFacts extends LatestGrant {
  readonly by: LostEvent['by'];
  readonly sinceGrantMs: number;
  readonly leaseMs: number;
  readonly loopDelayMs: number;
}

export function lostEvent(moment: Moment, hold: Hold, facts: LostFacts): PendingEvent {
  return pending<LostEvent>(true, () => ({
    ...ofHold(moment, hold),
    ...latest(facts),
    kind: 'lost',
    by: facts.by,
    sinceGrantMs: duration(facts.sinceGrantMs),
    leaseMs: facts.leaseMs,
    loopDelayMs: duration(facts.loopDelayMs),
  }));
}

/** Facts of an ending, all final when it is reported. */
export interface ReleaseFacts extends LatestGrant {
  readonly holdMs: number;
  readonly leaseMs: number;
  readonly renewals: number;
  readonly peakUse: number;
  readonly lost: boolean;
  readonly settledUs: number | undefined;
  readonly loopDelayMs: number;
}

export function releaseEvent(
  moment: Moment,
  hold: Hold,
  result: ReleaseResult,
  facts: ReleaseFacts,
): PendingEvent {
  return pending<ReleaseEvent>(isNotOwned(result.outcome), () => ({
    ...ofHold(moment, hold),
    ...latest(facts),
    kind: 'release',
    outcome: result.outcome,
    ...reasonOf(result),
    holdMs: duration(facts.holdMs),
    leaseMs: facts.leaseMs,
    renewals: facts.renewals,
    peakUse: duration(facts.peakUse),
    lost: facts.lost,
    // Redis's clock, as `serverUs`: it goes where that goes.
    ...(serverOf(moment) === undefined ? {} : given('settledUs', facts.settledUs)),
    loopDelayMs: duration(facts.loopDelayMs),
  }));
}

export function commitEvent(moment: Moment, hold: Hold, sinceGrantMs: number): PendingEvent {
  return pending<CommitEvent>(false, () => ({
    ...ofHold(moment, hold),
    kind: 'commit',
    sinceGrantMs: duration(sinceGrantMs),
  }));
}

export function fenceEvent(
  moment: Moment,
  hold: Hold,
  outcome: FenceOutcome,
  fence: number,
  seen: number,
): PendingEvent {
  return pending<FenceEvent>(outcome === 'rejected', () => ({
    ...common(moment, hold.name),
    kind: 'fence',
    outcome,
    owner: hold.owner,
    fence,
    seen,
  }));
}

export function duplicateEvent(moment: Moment, hold: Hold, outcome: DuplicateOutcome): PendingEvent {
  return pending<DuplicateEvent>(false, () => ({
    ...common(moment, hold.name),
    kind: 'duplicate',
    outcome,
    owner: hold.owner,
  }));
}

function pending<Event extends ReturnType<PendingEvent['encode']>>(
  urgent: boolean,
  encode: () => Event,
): PendingEvent {
  return { urgent, encode };
}

function common(moment: Moment, name: LockName) {
  return {
    atMs: moment.atMs,
    resource: name.resource,
    lock: name.lock,
    ...serverOf(moment),
  };
}

function ofHold(moment: Moment, hold: Hold) {
  return { ...common(moment, hold.name), owner: hold.owner, ...given('fence', hold.fence) };
}

function acquireFields(facts: AcquireFacts) {
  return {
    kind: 'acquire' as const,
    mode: facts.mode,
    waitMs: duration(facts.waitMs),
    attempts: facts.attempts,
    leaseMs: facts.plan.leaseMs,
    watchdog: facts.plan.watchdog,
    ...given('traceId', facts.traceId),
  };
}

/**
 * Redis's clock, with the server's id where the envelope names another one. A time whose server is not known is left
 * out when it is surely not the envelope's: it would be compared with times of another clock.
 */
function serverOf({ server, currentEpoch }: Moment): { serverUs: number; serverId?: string } | undefined {
  if (server === undefined) return undefined;
  const { serverUs, epoch } = server;
  const current = currentEpoch();
  if (epoch === current || (epoch.id !== undefined && epoch.id === current.id)) return { serverUs };
  return epoch.id === undefined ? undefined : { serverUs, serverId: epoch.id };
}

function latest({ latestFence, latestGrantUs }: LatestGrant): LatestGrant {
  return { ...given('latestFence', latestFence), ...given('latestGrantUs', latestGrantUs) };
}

function reasonOf(result: { outcome: string } | FailedResult) {
  return 'reason' in result ? { reason: result.reason } : {};
}

function isNotOwned(outcome: string): boolean {
  return outcome === 'expired' || outcome === 'stolen';
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]?: Value });
}

/** Within the contract's range, to the µs: more digits are noise and cost bytes. */
function duration(ms: number): number {
  const bounded = Math.min(Math.max(ms, 0), MAX_DURATION_MS);
  return Math.round(bounded * 1000) / 1000;
}
