import type { ReleaseEvent } from '../contract/event.js';
import { asciiJson } from './ascii-json.js';
import type { PendingEvent } from './emitter/emitter.js';
import {
  type AnswerDraft,
  duration,
  isNotOwned,
  type LatestGrant,
  type ServerStamp,
  serverJson,
  setLatest,
  setServer,
} from './events.js';
import type { HoldIdentity } from './hold-identity.js';
import { durationText, timeMsText, timeUsText } from './number-text.js';
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

type ReleaseDraft = AnswerDraft & { -readonly [F in keyof Released]: Released[F] };
type Released = Omit<Extract<ReleaseEvent, { outcome: 'released' }>, 'outcome'>;

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
    const event: ReleaseDraft = {
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
    return event as ReleaseEvent;
  }

  encodeJson(): string {
    if (this.#result.outcome !== 'released') return asciiJson(this.encode());
    const { name, owner, fence } = this.#identity;
    const { atMs, holdMs, leaseMs, renewals, peakUse, lost, loopDelayMs } = this.#facts;
    const { server, epochs, settledUs } = this.#facts;
    let json = `{"kind":"release","outcome":"released","atMs":${timeMsText(atMs)},${name.json},"owner":"${owner}"`;
    json += `,"holdMs":${durationText(holdMs)},"leaseMs":${leaseMs},"renewals":${renewals}`;
    json += `,"peakUse":${durationText(peakUse)},"lost":${lost},"loopDelayMs":${durationText(loopDelayMs)}`;
    if (fence !== undefined) json += `,"fence":${timeUsText(fence)}`;
    const stamp = serverJson(server, epochs);
    if (stamp !== '' && settledUs !== undefined) json += `,"settledUs":${timeUsText(settledUs)}`;
    return `${json}${stamp}}`;
  }

  #setAnswer(event: ReleaseDraft): void {
    const { server, epochs, settledUs, latest } = this.#facts;
    if ('reason' in this.#result) event.reason = this.#result.reason;
    if (latest !== undefined) setLatest(event, latest);
    // A clock without its server would be compared with another's. Then `latestGrantUs` stays alone, which proves
    // nothing: neither time would say "an old emitter, judge by the fences".
    if (setServer(event, server, epochs) && settledUs !== undefined) event.settledUs = settledUs;
  }
}
