import type { AcquireEvent } from '../contract/event.js';
import { ownerDigest } from '../contract/lock-id.js';
import type { AcquireMode } from '../contract/outcomes.js';
import { asciiJson } from './ascii-json.js';
import type { PendingEvent } from './emitter/emitter.js';
import { type Draft, duration, type ServerStamp, serverJson, setServer } from './events.js';
import type { HoldIdentity } from './hold-identity.js';
import type { LockName } from './lock-name.js';
import { durationText, timeMsText, timeUsText } from './number-text.js';
import type { AcquirePlan } from './options.js';
import type { AcquireFailure } from './results.js';
import type { ServerEpochs } from './server-epochs.js';

/** What the event of an acquire tells, whatever its outcome. */
export interface AcquireFacts {
  readonly atMs: number;
  readonly mode: AcquireMode;
  readonly waitMs: number;
  readonly attempts: number;
  readonly plan: AcquirePlan;
  readonly traceId: string | undefined;
  readonly server: ServerStamp | undefined;
  readonly epochs: ServerEpochs;
}

/** The lock was granted. One of the two events of every lock: one object, encoded later. */
export class AcquiredEvent implements PendingEvent {
  readonly urgent = false;
  readonly #identity: HoldIdentity;
  readonly #facts: AcquireFacts;

  constructor(identity: HoldIdentity, facts: AcquireFacts) {
    this.#identity = identity;
    this.#facts = facts;
  }

  encode(): AcquireEvent {
    const { name, owner, fence } = this.#identity;
    const event = acquireDraft(name, this.#facts, 'acquired') as Draft<
      AcquireEvent & { outcome: 'acquired' }
    >;
    event.owner = owner;
    if (fence !== undefined) event.fence = fence;
    if (name.keyBase64 !== undefined) event.keyBase64 = name.keyBase64;
    return event;
  }

  encodeJson(): string {
    const { name, owner, fence } = this.#identity;
    const { atMs, mode, waitMs, attempts, plan, traceId, server, epochs } = this.#facts;
    let json = `{"kind":"acquire","outcome":"acquired","atMs":${timeMsText(atMs)},${name.json},"mode":"${mode}"`;
    json += `,"waitMs":${durationText(waitMs)},"attempts":${attempts},"leaseMs":${plan.leaseMs}`;
    json += `,"watchdog":${plan.watchdog},"owner":"${owner}"${serverJson(server, epochs)}`;
    if (traceId !== undefined) json += `,"traceId":${asciiJson(traceId)}`;
    if (fence !== undefined) json += `,"fence":${timeUsText(fence)}`;
    if (name.keyBase64 !== undefined) json += `,"keyBase64":"${name.keyBase64}"`;
    return `${json}}`;
  }
}

/** The lock was not granted. */
export class AcquireFailedEvent implements PendingEvent {
  readonly urgent = false;
  readonly #name: LockName;
  readonly #facts: AcquireFacts;
  readonly #failure: AcquireFailure;
  readonly #token: string;

  /** @param token the one that may be stored, after an unknown outcome */
  constructor(name: LockName, facts: AcquireFacts, failure: AcquireFailure, token: string) {
    this.#name = name;
    this.#facts = facts;
    this.#failure = failure;
    this.#token = token;
  }

  encode(): AcquireEvent {
    const failure = this.#failure;
    const event = acquireDraft(this.#name, this.#facts, failure.outcome);
    if (failure.outcome !== 'contended') Object.assign(event, { reason: failure.reason });
    if (failure.outcome === 'unknown') Object.assign(event, { owner: ownerDigest(this.#token) });
    return event;
  }
}

/** The fields of every outcome; what an outcome has besides is set by the caller. */
function acquireDraft(name: LockName, facts: AcquireFacts, outcome: AcquireEvent['outcome']): AcquireEvent {
  const event = {
    kind: 'acquire',
    outcome,
    atMs: facts.atMs,
    resource: name.resource,
    lock: name.lock,
    mode: facts.mode,
    waitMs: duration(facts.waitMs),
    attempts: facts.attempts,
    leaseMs: facts.plan.leaseMs,
    watchdog: facts.plan.watchdog,
  } as Draft<AcquireEvent>;
  setServer(event, facts.server, facts.epochs);
  if (facts.traceId !== undefined) event.traceId = facts.traceId;
  return event;
}
