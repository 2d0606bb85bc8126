import type { ReleaseEvent } from '../contract/event.js';
import type { PendingEvent } from './emitter/emitter.js';
import {
  type Draft,
  duration,
  isNotOwned,
  type LatestGrant,
  type ServerStamp,
  setLatest,
  setServer,
} from './events.js';
import type { HoldIdentity } from './hold-identity.js';
import type { ReleaseResult } from './results.js';
import type { ServerEpochs } from './server-epochs.js';

/** Facts of an ending, all final when it is reported. */
export interface ReleaseFacts {
  readonly atMs: number;
  readonly holdMs: number;
  readonly leaseMs: number;
  readonly renewals: number;
  readonly peakUse: number;
  readonly lost: boolean;
  /** Redis's clock when the work settled, as a lower bound; of the server of `server`. */
  readonly settledUs: number | undefined;
  readonly loopDelayMs: number;
  /** Of a not-owned answer. */
  readonly latest: LatestGrant | undefined;
  readonly server: ServerStamp | undefined;
  readonly epochs: ServerEpochs;
}

/** The work settled. One of the two events of every lock: one object, encoded later. */
export class ReleasedEvent implements PendingEvent {
  readonly urgent: boolean;
  readonly #identity: HoldIdentity;
  readonly #result: ReleaseResult;
  readonly #facts: ReleaseFacts;

  constructor(identity: HoldIdentity, result: ReleaseResult, facts: ReleaseFacts) {
    this.urgent = isNotOwned(result.outcome);
    this.#identity = identity;
    this.#result = result;
    this.#facts = facts;
  }

  encode(): ReleaseEvent {
    const { name, owner, fence } = this.#identity;
    const facts = this.#facts;
    const event: Draft<ReleaseEvent> = {
      kind: 'release',
      outcome: this.#result.outcome,
      atMs: facts.atMs,
      resource: name.resource,
      lock: name.lock,
      owner,
      holdMs: duration(facts.holdMs),
      leaseMs: facts.leaseMs,
      renewals: facts.renewals,
      peakUse: duration(facts.peakUse),
      lost: facts.lost,
      loopDelayMs: duration(facts.loopDelayMs),
    };
    if (fence !== undefined) event.fence = fence;
    this.#setAnswer(event);
    return event;
  }

  #setAnswer(event: Draft<ReleaseEvent>): void {
    const { server, epochs, settledUs, latest } = this.#facts;
    // A clock without its server would be compared with another's, so both times go or neither.
    if (setServer(event, server, epochs) && settledUs !== undefined) event.settledUs = settledUs;
    if ('reason' in this.#result) event.reason = this.#result.reason;
    if (latest !== undefined) setLatest(event, latest);
  }
}
