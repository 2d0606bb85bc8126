import type { CommitEvent, DuplicateEvent, FenceEvent, LockEvent, LostEvent } from '../contract/event.js';
import { MAX_DURATION_MS } from '../contract/event.js';
import type { DuplicateOutcome, FenceOutcome, RedisReason } from '../contract/outcomes.js';
import type { PendingEvent } from './emitter/emitter.js';
import type { HoldIdentity } from './hold-identity.js';
import type { LockName } from './lock-name.js';
import { timeUsText } from './number-text.js';
import type { CheckResult, FailedResult, NotOwnedResult } from './results.js';
import type { ServerEpoch, ServerEpochs } from './server-epochs.js';

/** An event under construction: optional fields are set after the others, where there is a value. */
export type Draft<Event> = Event extends LockEvent
  ? { -readonly [Field in keyof Event]: Event[Field] }
  : never;

/** An event whose outcome decides which fields it has: the outcome and its fields come from one answer. */
export type AnswerDraft = {
  kind: string;
  outcome: string;
  lateMs?: number;
  reason?: RedisReason;
} & ServerFields & {
    -readonly [F in keyof LatestGrant]: LatestGrant[F];
  };

interface ServerFields {
  serverUs?: number | undefined;
  serverId?: string | undefined;
}

/** Redis's clock when it answered, and which server that was. */
export interface ServerStamp {
  readonly serverUs: number;
  readonly epoch: ServerEpoch;
}

/** When something happened, for its event. Read then; encoded later. */
export interface Moment {
  readonly atMs: number;
  readonly server: ServerStamp | undefined;
  /** The envelope names the server that is current when the batch is built. */
  readonly epochs: ServerEpochs;
}

/** What a not-owned answer told. */
export interface LatestGrant {
  readonly latestFence?: number;
  readonly latestGrantUs?: number;
}

/** Facts of one renewal. */
export interface RenewFacts extends LatestGrant {
  readonly leaseMs: number;
  readonly leftMs: number;
  /** Undefined for a renewal that the caller asked for. */
  readonly lateMs: number | undefined;
}

/** One try to extend a lease. */
export function renewEvent(
  moment: Moment,
  identity: HoldIdentity,
  result: { outcome: 'renewed' } | NotOwnedResult | FailedResult,
  facts: RenewFacts,
): PendingEvent {
  return pending(isNotOwned(result.outcome), () => {
    const { leaseMs, leftMs, lateMs } = facts;
    const event = {
      ...ofHold(moment, identity),
      kind: 'renew',
      outcome: result.outcome,
      leaseMs,
      leftMs: duration(leftMs),
    };
    const timed: AnswerDraft = lateMs === undefined ? event : { ...event, lateMs: duration(lateMs) };
    return withAnswer(timed, result, facts);
  });
}

/** One pre-commit check. */
export function checkEvent(
  moment: Moment,
  identity: HoldIdentity,
  result: Exclude<CheckResult, { outcome: 'ended' }>,
  latest: LatestGrant,
): PendingEvent {
  return pending(isNotOwned(result.outcome), () => {
    const event = { ...ofHold(moment, identity), kind: 'check', outcome: result.outcome };
    return withAnswer(event, result, latest);
  });
}

/** Facts of a loss. */
export interface LostFacts extends LatestGrant {
  readonly by: LostEvent['by'];
  readonly sinceGrantMs: number;
  readonly leaseMs: number;
  readonly loopDelayMs: number;
}

/** The lease ended, or the lock became another's, while the work went on. */
export function lostEvent(moment: Moment, identity: HoldIdentity, facts: LostFacts): PendingEvent {
  return pending(true, () => {
    const event: Draft<LostEvent> = {
      ...ofHold(moment, identity),
      kind: 'lost',
      by: facts.by,
      sinceGrantMs: duration(facts.sinceGrantMs),
      leaseMs: facts.leaseMs,
      loopDelayMs: duration(facts.loopDelayMs),
    };
    setLatest(event, facts);
    return event;
  });
}

/** The caller marked its commit. */
export function commitEvent(moment: Moment, identity: HoldIdentity, sinceGrantMs: number): PendingEvent {
  return pending(
    false,
    (): CommitEvent => ({
      ...ofHold(moment, identity),
      kind: 'commit',
      sinceGrantMs: duration(sinceGrantMs),
    }),
  );
}

/** A fenced store took or refused a write. */
export function fenceEvent(
  moment: Moment,
  identity: HoldIdentity,
  outcome: FenceOutcome,
  fence: number,
  seen: number,
): PendingEvent {
  return pending(
    outcome === 'rejected',
    (): FenceEvent => ({
      ...common(moment, identity.name),
      kind: 'fence',
      outcome,
      owner: identity.owner,
      fence,
      seen,
    }),
  );
}

/** A business action ran twice. */
export function duplicateEvent(
  moment: Moment,
  identity: HoldIdentity,
  outcome: DuplicateOutcome,
): PendingEvent {
  return pending(
    outcome === 'unabsorbed',
    (): DuplicateEvent => ({
      ...common(moment, identity.name),
      kind: 'duplicate',
      outcome,
      owner: identity.owner,
    }),
  );
}

function pending(urgent: boolean, encode: () => LockEvent): PendingEvent {
  return { urgent, encode };
}

function common(moment: Moment, name: LockName) {
  const fields: { atMs: number; resource: string; lock: string; serverUs?: number; serverId?: string } = {
    atMs: moment.atMs,
    resource: name.resource,
    lock: name.lock,
  };
  setServer(fields, moment.server, moment.epochs);
  return fields;
}

function ofHold(moment: Moment, identity: HoldIdentity) {
  const fields = { ...common(moment, identity.name), owner: identity.owner };
  return identity.fence === undefined ? fields : { ...fields, fence: identity.fence };
}

function withAnswer(
  event: AnswerDraft,
  result: { outcome: string } | { reason: FailedResult['reason'] },
  latest: LatestGrant,
): LockEvent {
  if ('reason' in result) event.reason = result.reason;
  setLatest(event, latest);
  return event as LockEvent;
}

/**
 * Sets Redis's clock, with the server's id where the envelope names another one. False, and nothing set, when the
 * server is not known but surely not the envelope's: the time would be compared with times of another clock.
 */
export function setServer(
  event: ServerFields,
  stamp: ServerStamp | undefined,
  { current }: ServerEpochs,
): boolean {
  if (stamp === undefined) return false;
  const { serverUs, epoch } = stamp;
  if (epoch !== current && epoch.id === undefined) return false;
  event.serverUs = serverUs;
  if (epoch !== current && epoch.id !== undefined && epoch.id !== current.id) event.serverId = epoch.id;
  return true;
}

/** What {@link setServer} sets, as members of an object that has some already; '' where it sets nothing. */
export function serverJson(stamp: ServerStamp | undefined, epochs: ServerEpochs): string {
  if (stamp === undefined) return '';
  // The usual case, without an object for it: the envelope names this server.
  if (stamp.epoch === epochs.current) return `,"serverUs":${timeUsText(stamp.serverUs)}`;
  const fields: ServerFields = {};
  if (!setServer(fields, stamp, epochs)) return '';
  return `,${JSON.stringify(fields).slice(1, -1)}`;
}

/** Sets what a not-owned answer told. */
export function setLatest(
  event: { latestFence?: number | undefined; latestGrantUs?: number | undefined },
  { latestFence, latestGrantUs }: LatestGrant,
): void {
  if (latestFence !== undefined) event.latestFence = latestFence;
  if (latestGrantUs !== undefined) event.latestGrantUs = latestGrantUs;
}

/** True for the outcomes that say "you do not own this lock". Their events are sent at once. */
export function isNotOwned(outcome: string): boolean {
  return outcome === 'expired' || outcome === 'stolen';
}

/** Within the contract's range, to the µs: more digits are noise and cost bytes. */
export function duration(ms: number): number {
  const bounded = Math.min(Math.max(ms, 0), MAX_DURATION_MS);
  return Math.round(bounded * 1000) / 1000;
}
