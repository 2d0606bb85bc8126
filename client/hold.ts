import type { Hold as HoldReport } from '../contract/batch.js';

import type { LostBy } from '../contract/outcomes.js';
import type { CheckReply, NotOwned, ReleaseReply } from '../lua/replies.js';
import type { AcquireArgs } from '../lua/scripts.js';
import { latestGrant, needsCleanUp, notOwned, releaseResult } from './answers.js';
import { type Answer, ask, Command } from './command.js';
import { type DeadlineItem, NOT_QUEUED } from './deadline-queue.js';
import { LeaseLostError } from './errors.js';
import { checkEvent, type LatestGrant, lostEvent } from './events.js';
import type { HoldIdentity } from './hold-identity.js';
import type { AcquirePlan } from './options.js';
import type { ClientParts } from './parts.js';
import { WRONG_TYPE } from './redis-errors.js';
import { ReleasedEvent } from './release-event.js';
import { Renewal } from './renewal.js';
import type { CheckResult, ReleaseResult, RenewResult } from './results.js';
import { ServerClock, type ServerTime } from './server-clock.js';
import type { ServerEpoch } from './server-epochs.js';
import { Watchdog } from './watchdog.js';

/** What a grant brought. Times are monotonic, in ms. */
export interface Grant {
  readonly identity: HoldIdentity;
  readonly args: AcquireArgs;
  readonly plan: AcquirePlan;

  /** When the granting command was sent: the lease counts from here. */
  readonly sentMs: number;
  /** Redis's clock at the grant. */
  readonly grantUs: number;
  readonly time: ServerTime;
}

/** `held` → `lost` → `settling` → `ended`, where `lost` may be left out. */
type HoldState = 'held' | 'lost' | 'settling' | 'ended';

const NEXT_STATES: Readonly<Record<HoldState, readonly HoldState[]>> = {
  held: ['lost', 'settling'],
  lost: ['settling'],
  settling: ['ended'],
  ended: [],
};

/** How the work ended, fixed at that moment. */
interface Settled {
  readonly atMs: number;
  readonly holdMs: number;
  readonly loopDelayMs: number;
}

/**
 * One hold of one lock, from the grant to the answer of its release. All changes of its state go through `#to`, so
 * that a loss is told once and an ended hold is never renewed.
 */
export class Hold implements DeadlineItem {
  dueMs = 0;
  queueIndex = NOT_QUEUED;
  readonly grant: Grant;
  readonly #parts: ClientParts;
  readonly #serverClock = new ServerClock();
  readonly #maxHoldEndMs: number;
  readonly #watchdog: Watchdog | undefined;
  #state: HoldState = 'held';
  #leaseMs: number;
  #confirmedMs: number;
  #leaseEndMs: number;
  #renewals = 0;
  #peakUse = 0;
  #loss: LeaseLostError | undefined;
  #lostBy: LostBy | undefined;
  #controller: AbortController | undefined;
  #renewal: Renewal | undefined;
  #release: Promise<ReleaseResult> | undefined;

  constructor(parts: ClientParts, grant: Grant) {
    this.#parts = parts;
    this.grant = grant;
    this.#leaseMs = grant.plan.leaseMs;
    this.#confirmedMs = grant.sentMs;
    this.#leaseEndMs = grant.sentMs + grant.plan.leaseMs;
    this.#maxHoldEndMs = grant.sentMs + grant.plan.maxHoldMs;
    this.#serverClock.add(grant.time);
    if (grant.plan.watchdog) this.#watchdog = new Watchdog(this, parts.deadlines);
  }

  /** Begins to watch the deadline, and to renew where that was asked for. */
  start(): void {
    this.#parts.holds.add(this);
    this.#parts.loopDelay.start(this.grant.time.receivedMs);
    this.#parts.deadlines.set(this, this.endMs);
    this.#watchdog?.plan();
  }

  get identity(): HoldIdentity {
    return this.grant.identity;
  }

  get fence(): number | undefined {
    return this.grant.identity.fence;
  }

  /** The lease last asked for. */
  get leaseMs(): number {
    return this.#leaseMs;
  }

  get confirmedMs(): number {
    return this.#confirmedMs;
  }

  /** Local end: of the lease, or of the longest hold allowed, whichever is earlier. */
  get endMs(): number {
    return Math.min(this.#leaseEndMs, this.#maxHoldEndMs);
  }

  get isRenewing(): boolean {
    return this.#renewal !== undefined;
  }

  get isReleased(): boolean {
    return this.#release !== undefined;
  }

  /** What the hold was lost to; undefined as long as it is not lost. Asks the clock. */
  get loss(): LeaseLostError | undefined {
    this.noticeEnd(this.now());
    return this.#loss;
  }

  /** Made on first use; aborted by the loss, never by a release. */
  get signal(): AbortSignal {
    const { loss } = this;
    this.#controller ??= new AbortController();
    if (loss !== undefined) this.#controller.abort(loss);
    return this.#controller.signal;
  }

  now(): number {
    return this.#parts.clock.monoMs();
  }

  isValid(): boolean {
    this.noticeEnd(this.now());
    return this.#state === 'held';
  }

  remainingMs(): number {
    const nowMs = this.now();
    this.noticeEnd(nowMs);
    return this.#state === 'held' ? this.endMs - nowMs : 0;
  }

  sinceGrantMs(): number {
    return this.now() - this.grant.sentMs;
  }

  /** The timer of the local deadline. */
  onDue(nowMs: number): void {
    this.noticeEnd(nowMs);
  }

  /** Tells the loss when the local deadline has passed, whoever looked first: timer, caller or watchdog. */
  noticeEnd(nowMs: number): void {
    if (this.#state !== 'held' || nowMs < this.endMs) return;
    this.lose(this.#maxHoldEndMs <= this.#leaseEndMs ? 'max_hold' : 'deadline', nowMs);
  }

  /** Tells the loss, once. Not while or after the work settles. */
  lose(by: LostBy, nowMs: number, answer?: NotOwned): void {
    if (!this.#to('lost')) return;
    this.#watchdog?.stop();
    this.#parts.deadlines.cancel(this);
    this.#tellLoss(by, nowMs, this.#parts.loopDelay.worstSince(this.grant.sentMs, nowMs), answer);
  }

  /** Renews once, after whatever renewal is under way. Never rejects for anything that Redis does. */
  async renew(leaseMs: number): Promise<RenewResult> {
    while (this.#renewal !== undefined) await this.#renewal.result;
    const limitMs = Math.min(this.#parts.commandTimeoutMs, this.#leaseEndMs - this.now());
    const result = await this.#sendRenewal(leaseMs, 0, limitMs);
    if (result.outcome === 'renewed') this.#watchdog?.plan();
    return result;
  }

  /** A renewal by the watchdog: waited for until the lease ends, since a second one could not overtake it. */
  renewLate(lateMs: number): Promise<RenewResult> {
    return this.#sendRenewal(this.#leaseMs, lateMs, this.#leaseEndMs - this.now());
  }

  dropDeadRenewal(): void {
    if (this.#renewal?.isDead()) this.#renewal.drop();
  }

  #sendRenewal(leaseMs: number, lateMs: number, limitMs: number): Promise<RenewResult> {
    this.noticeEnd(this.now());
    if (this.#state !== 'held') return Promise.resolve({ outcome: 'ended' });
    const renewal = new Renewal(this.#parts, this, {
      leaseMs,
      lateMs,
      leftMs: this.#leaseEndMs - this.now(),
    });
    this.#renewal = renewal;
    renewal.send(limitMs);
    return renewal.result;
  }

  /** The renewal has its answer, or has been given up. */
  renewalOver(renewal: Renewal): void {
    if (this.#renewal === renewal) this.#renewal = undefined;
  }

  get isHeld(): boolean {
    return this.#state === 'held';
  }

  /** Redis may end the lease at this time already. */
  mayEndAt(endMs: number): void {
    if (endMs < this.#leaseEndMs) this.#setLeaseEnd(endMs);
  }

  /** Redis confirmed an extension that was sent at `sentMs`. */
  extend(leaseMs: number, sentMs: number, time: ServerTime): void {
    this.#peakUse = Math.max(this.#peakUse, (time.receivedMs - this.#confirmedMs) / this.#leaseMs);
    this.#renewals += 1;
    this.#serverClock.add(time);
    const fromMs = this.#leaseMs;
    this.#leaseMs = leaseMs;
    this.#confirmedMs = sentMs;
    this.#setLeaseEnd(sentMs + leaseMs);
    this.#parts.holds.leaseChanged(this, fromMs);
  }

  #setLeaseEnd(endMs: number): void {
    this.#leaseEndMs = endMs;
    this.#parts.deadlines.set(this, this.endMs);
  }

  /** Asks Redis whether the lock is still the own one. */
  async check(): Promise<CheckResult> {
    this.noticeEnd(this.now());
    if (this.#state !== 'held') return { outcome: 'ended' };
    const { parts, args } = { parts: this.#parts, args: this.grant.args };
    const answer = await ask(parts, parts.commandTimeoutMs, () => parts.scripts.check(parts.redis, args));
    return this.#checked(answer);
  }

  #checked(answer: Answer<CheckReply>): CheckResult {
    const stamp = this.learn(answer);
    const tell = (result: Exclude<CheckResult, { outcome: 'ended' }>, latest: LatestGrant = {}) => {
      this.#parts.events.emit(checkEvent(this.#parts.moment(stamp), this.identity, result, latest));
    };
    if (!answer.ok) {
      const result = {
        outcome: 'error',
        reason: answer.failure.reason,
        cause: answer.failure.cause,
      } as const;
      tell(result);
      return result;
    }
    const { reply, receivedMs } = answer;
    this.noticeEnd(receivedMs);
    switch (reply.word) {
      case 'held': {
        const result = { outcome: 'held', leftMs: reply.leftMs } as const;
        tell(result);
        return this.#state === 'held' ? result : { outcome: 'ended' };
      }
      case 'expired':
      case 'stolen': {
        const result = notOwned(reply);
        tell(result, latestGrant(reply));
        this.lose('check', receivedMs, reply);
        return result;
      }
      case 'wrong_type': {
        const result = { outcome: 'error', reason: WRONG_TYPE.reason } as const;
        tell(result);
        this.lose('check', receivedMs);
        return result;
      }
      default:
        return reply satisfies never;
    }
  }

  /** The work has settled: gives the lock back. Once; repeated calls share the answer. Never rejects. */
  release(): Promise<ReleaseResult> {
    this.#release ??= this.#sendRelease();
    return this.#release;
  }

  #sendRelease(): Promise<ReleaseResult> {
    const settled = this.#settle();
    const { scripts, redis, commandTimeoutMs } = this.#parts;
    return new Promise((resolve) => {
      const onAnswer = (answer: Answer<ReleaseReply>) => resolve(this.#end(answer, settled));
      new Command(this.#parts, { onAnswer }, commandTimeoutMs, () => scripts.release(redis, this.grant.args));
    });
  }

  #end(answer: Answer<ReleaseReply>, settled: Settled): ReleaseResult {
    const result = this.#released(answer, settled);
    this.#to('ended');
    this.#parts.holds.delete(this);
    return result;
  }

  #settle(): Settled {
    const nowMs = this.now();
    this.noticeEnd(nowMs);
    this.#to('settling');
    this.#watchdog?.stop();
    this.#parts.deadlines.cancel(this);
    this.#peakUse = Math.max(this.#peakUse, (nowMs - this.#confirmedMs) / this.#leaseMs);
    this.#parts.shedding?.observe(this.identity.name.resource, this.#peakUse, nowMs);
    const { sentMs } = this.grant;
    return {
      atMs: nowMs,
      holdMs: nowMs - sentMs,
      loopDelayMs: this.#parts.loopDelay.worstSince(sentMs, nowMs),
    };
  }

  #released(answer: Answer<ReleaseReply>, settled: Settled): ReleaseResult {
    const stamp = this.learn(answer);
    const result = releaseResult(answer);
    const reply = answer.ok ? answer.reply : undefined;
    const gone = reply?.word === 'expired' || reply?.word === 'stolen' ? reply : undefined;
    const settledUs = this.#serverClock.lowerBoundUs(settled.atMs);
    if (this.#loss === undefined && this.#wasLostBefore(answer, settledUs)) {
      this.#tellLoss('release', answer.receivedMs, settled.loopDelayMs, gone);
    }
    if (needsCleanUp(answer)) this.#parts.cleanUp.start(this.grant.args);
    this.#parts.events.emit(
      new ReleasedEvent(this.identity, result, {
        atMs: this.#parts.clock.wallMs(),

        holdMs: settled.holdMs,
        leaseMs: this.#leaseMs,
        renewals: this.#renewals,
        peakUse: this.#peakUse,
        lost: this.#loss !== undefined,
        settledUs,
        loopDelayMs: settled.loopDelayMs,
        latest: gone && latestGrant(gone),
        server: stamp,
        epochs: this.#parts.epochs,
      }),
    );
    return result;
  }

  /**
   * True when the lock was surely gone before the work settled: "not owned" came while the lease ran, or another
   * was granted before. An answer that took until the lease ended proves nothing: the work was within its lease.
   */
  #wasLostBefore(answer: Answer<ReleaseReply>, settledUs: number | undefined): boolean {
    if (!answer.ok || answer.reply.word === 'released') return false;
    if (answer.reply.word === 'wrong_type' || answer.receivedMs < this.#leaseEndMs) return true;
    const { latestGrantUs, latestFence } = answer.reply;
    const byOther = latestFence !== null && latestFence > (this.fence ?? latestFence);
    return byOther && latestGrantUs !== null && settledUs !== undefined && latestGrantUs <= settledUs;
  }

  /** Takes from an answer what it tells of Redis's clock. */
  learn(answer: Answer<{ word: string; serverUs?: number }>): ServerTime | undefined {
    if (!answer.ok || answer.reply.serverUs === undefined) return undefined;
    const time = { serverUs: answer.reply.serverUs, receivedMs: answer.receivedMs, epoch: answer.epoch };
    this.#serverClock.add(time);
    return time;
  }

  #tellLoss(by: LostBy, nowMs: number, loopDelayMs: number, answer: NotOwned | undefined): void {
    const sinceGrantMs = nowMs - this.grant.sentMs;
    const latest = latestGrant(answer);
    this.#lostBy = by;
    this.#loss = new LeaseLostError(this.identity.name, {
      by,
      sinceGrantMs,
      fence: this.fence,
      latestFence: latest.latestFence,
    });
    const stamp = answer &&
      this.#serverClock.epoch && { serverUs: answer.serverUs, epoch: this.#serverClock.epoch };
    const facts = { by, sinceGrantMs, leaseMs: this.#leaseMs, loopDelayMs, ...latest };
    this.#parts.events.emit(lostEvent(this.#parts.moment(stamp), this.identity, facts));
    this.#controller?.abort(this.#loss);
  }

  get lostBy(): LostBy | undefined {
    return this.#lostBy;
  }

  /** As heartbeats report it. */
  report(current: ServerEpoch, nowMs: number): HoldReport {
    const { fence, grant } = this;
    const { name, owner } = this.identity;

    const { id } = grant.time.epoch;
    return {
      lock: name.lock,
      owner,
      resource: name.resource,
      ...(fence === undefined ? {} : { fence }),
      grantUs: grant.grantUs,
      ...(id === undefined || id === current.id ? {} : { serverId: id }),
      leaseMs: this.#leaseMs,
      leftMs: Math.max(0, Math.round(this.endMs - nowMs)),
      renewals: this.#renewals,
      ...(name.keyBase64 === undefined ? {} : { keyBase64: name.keyBase64 }),
    };
  }

  /** The only way to another state. False: not allowed from here, nothing changed. */
  #to(next: HoldState): boolean {
    if (!NEXT_STATES[this.#state].includes(next)) return false;
    this.#state = next;
    return true;
  }
}
