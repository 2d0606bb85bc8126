import type { Hold as HoldReport } from '../contract/batch.js';
import type { LostBy } from '../contract/outcomes.js';
import type { NotOwned, ReleaseReply } from '../lua/replies.js';
import type { AcquireArgs } from '../lua/scripts.js';
import { latestGrant } from './answers.js';
import { type Answer, Command } from './command.js';
import { type DeadlineItem, NOT_QUEUED } from './deadline-queue.js';
import { type Ending, judgeEnding } from './ending.js';
import { LeaseLostError } from './errors.js';
import { lostEvent } from './events.js';
import type { HoldIdentity } from './hold-identity.js';
import { LeaseTerm } from './lease-term.js';
import type { AcquirePlan } from './options.js';
import type { ClientParts } from './parts.js';
import { runCheck } from './pre-commit-check.js';
import { ReleasedEvent } from './release-event.js';
import { Renewal } from './renewal.js';
import type { CheckResult, ReleaseResult, RenewResult } from './results.js';
import { ServerClock, type ServerTime } from './server-clock.js';
import type { ServerEpoch } from './server-epochs.js';
import { Watchdog } from './watchdog.js';

/** What a grant brought. */
export interface Grant {
  readonly identity: HoldIdentity;
  readonly args: AcquireArgs;
  readonly plan: AcquirePlan;
  /** When the granting command was sent, monotonic: the lease counts from here. */
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
  readonly term: LeaseTerm;
  readonly #parts: ClientParts;
  readonly #serverClock = new ServerClock();
  readonly #watchdog: Watchdog | undefined;
  #state: HoldState = 'held';
  #loss: LeaseLostError | undefined;
  #controller: AbortController | undefined;
  #renewal: Renewal | undefined;
  #release: Promise<ReleaseResult> | undefined;

  constructor(parts: ClientParts, grant: Grant) {
    const { plan, sentMs, time } = grant;
    this.#parts = parts;
    this.grant = grant;
    this.term = new LeaseTerm(sentMs, plan.leaseMs, plan.maxHoldMs);
    this.#serverClock.add(time);
    if (plan.watchdog) this.#watchdog = new Watchdog(this, parts.deadlines);
  }

  /** Begins to watch the deadline, and to renew where that was asked for. */
  start(): void {
    this.#parts.holds.add(this);
    this.#parts.loopDelay.start(this.grant.time.receivedMs);
    this.#parts.deadlines.set(this, this.term.endMs);
    this.#watchdog?.plan();
  }

  get identity(): HoldIdentity {
    return this.grant.identity;
  }

  /** Neither lost nor released, as far as anybody noticed. */
  get isHeld(): boolean {
    return this.#state === 'held';
  }

  /** The work has settled; its release may still be under way. */
  get isSettled(): boolean {
    return this.#release !== undefined;
  }

  get isRenewing(): boolean {
    return this.#renewal !== undefined;
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
    return this.isHeld;
  }

  remainingMs(): number {
    const nowMs = this.now();
    this.noticeEnd(nowMs);
    return this.isHeld ? this.term.endMs - nowMs : 0;
  }

  /** The timer of the local deadline. */
  onDue(nowMs: number): void {
    this.noticeEnd(nowMs);
  }

  /** Tells the loss when the local deadline has passed, whoever looked first: timer, caller or watchdog. */
  noticeEnd(nowMs: number): void {
    if (!this.isHeld || nowMs < this.term.endMs) return;
    this.lose(this.term.endsByMaxHold ? 'max_hold' : 'deadline', nowMs);
  }

  /** Tells the loss, once. Not while or after the work settles. */
  lose(by: LostBy, nowMs: number, answer?: NotOwned): void {
    if (!this.#to('lost')) return;
    this.#stopTimers();
    this.#tellLoss(by, nowMs, this.#parts.loopDelay.worstSince(this.grant.sentMs, nowMs), answer);
  }

  /** Renews once, after whatever renewal is under way. Never rejects. */
  async renew(leaseMs: number): Promise<RenewResult> {
    while (this.#renewal !== undefined) await this.#renewal.result;
    const limitMs = Math.min(this.#parts.commandTimeoutMs, this.term.leaseEndMs - this.now());
    const result = await this.#sendRenewal(leaseMs, undefined, limitMs);
    if (result.outcome === 'renewed') this.#watchdog?.plan();
    return result;
  }

  /** A renewal by the watchdog: waited for until the lease ends, since a second one could not overtake it. */
  renewLate(lateMs: number): Promise<RenewResult> {
    return this.#sendRenewal(this.term.leaseMs, lateMs, this.term.leaseEndMs - this.now());
  }

  /** Gives up a renewal whose connection has gone. */
  dropDeadRenewal(): void {
    if (this.#renewal?.isDead()) this.#renewal.drop();
  }

  /** The renewal has its answer, or has been given up. */
  renewalOver(renewal: Renewal): void {
    if (this.#renewal === renewal) this.#renewal = undefined;
  }

  /** Redis may end the lease at this time already. */
  mayEndAt(endMs: number): void {
    if (this.term.mayEndAt(endMs)) this.#parts.deadlines.set(this, this.term.endMs);
  }

  /** Redis confirmed an extension that was sent at `sentMs`. */
  extend(leaseMs: number, sentMs: number, time: ServerTime): void {
    const fromMs = this.term.leaseMs;
    this.term.extend(leaseMs, sentMs, time.receivedMs);
    this.#serverClock.add(time);
    this.#parts.deadlines.set(this, this.term.endMs);
    this.#parts.holds.leaseChanged(this, fromMs);
  }

  /** Asks Redis whether the lock is still the own one. Never rejects. */
  check(): Promise<CheckResult> {
    return runCheck(this.#parts, this);
  }

  /** The work has settled: gives the lock back. Once; repeated calls share the answer. Never rejects. */
  release(): Promise<ReleaseResult> {
    const nowMs = this.now();
    // Before anything is sent: a listener of the signal may release too, and shares the answer.
    this.noticeEnd(nowMs);
    this.#release ??= this.#sendRelease(nowMs);
    return this.#release;
  }

  /** Takes from an answer what it tells of Redis's clock. */
  learn(answer: Answer<{ word: string; serverUs?: number }>): ServerTime | undefined {
    if (!answer.ok || answer.reply.serverUs === undefined) return undefined;
    const time = { serverUs: answer.reply.serverUs, receivedMs: answer.receivedMs, epoch: answer.epoch };
    this.#serverClock.add(time);
    return time;
  }

  /** As heartbeats report it. */
  report(current: ServerEpoch, nowMs: number): HoldReport {
    const { name, owner, fence } = this.identity;
    const { id } = this.grant.time.epoch;
    return {
      lock: name.lock,
      owner,
      resource: name.resource,
      ...(fence === undefined ? {} : { fence }),
      grantUs: this.grant.grantUs,
      ...(id === undefined || id === current.id ? {} : { serverId: id }),
      leaseMs: this.term.leaseMs,
      // A loss that Redis told comes before the deadline. Its event may have been dropped: then only this tells it.
      leftMs: this.#loss === undefined ? Math.max(0, Math.round(this.term.endMs - nowMs)) : 0,
      renewals: this.term.renewals,
      ...(name.keyBase64 === undefined ? {} : { keyBase64: name.keyBase64 }),
    };
  }

  #sendRenewal(leaseMs: number, lateMs: number | undefined, limitMs: number): Promise<RenewResult> {
    const nowMs = this.now();
    this.noticeEnd(nowMs);
    if (!this.isHeld) return Promise.resolve({ outcome: 'ended' });
    this.#renewal = new Renewal(this.#parts, this, { leaseMs, lateMs, leftMs: this.term.leaseEndMs - nowMs });
    this.#renewal.send(limitMs);
    return this.#renewal.result;
  }

  #sendRelease(nowMs: number): Promise<ReleaseResult> {
    const settled = this.#settle(nowMs);
    const result = new Promise<ReleaseResult>((resolve) => {
      const onAnswer = (answer: Answer<ReleaseReply>) => resolve(this.#end(answer, settled));
      new Command(this.#parts, { onAnswer }, this.#parts.commandTimeoutMs, (scripts, command) =>
        scripts.release(this.grant.args, command),
      );
    });
    // Redis is at work while the books are kept.
    this.#stopTimers();
    this.#parts.shedding?.observe(this.identity.name.resource, this.term.peakUse, settled.atMs);
    return result;
  }

  #settle(nowMs: number): Settled {
    this.#to('settling');
    this.term.settle(nowMs);
    return { atMs: nowMs, loopDelayMs: this.#parts.loopDelay.worstSince(this.grant.sentMs, nowMs) };
  }

  #end(answer: Answer<ReleaseReply>, settled: Settled): ReleaseResult {
    const server = this.learn(answer);
    const settledUs = this.#serverClock.lowerBoundUs(settled.atMs);
    const { fence } = this.identity;
    const { leaseEndMs } = this.term;
    const ending = judgeEnding(answer, { fence, leaseEndMs, settledUs, wasLost: this.#loss !== undefined });
    if (ending.foundLost) this.#tellLoss('release', answer.receivedMs, settled.loopDelayMs, ending.gone);
    if (ending.needsCleanUp) this.#parts.cleanUp.start(this.grant.args);
    this.#tellRelease(ending, settled, settledUs, server);
    this.#to('ended');
    this.#parts.holds.delete(this);
    return ending.result;
  }

  #tellRelease(
    { result, gone }: Ending,
    settled: Settled,
    settledUs: number | undefined,
    server: ServerTime | undefined,
  ): void {
    const { leaseMs, renewals, peakUse } = this.term;
    const event = new ReleasedEvent(this.identity, result, {
      atMs: this.#parts.clock.wallMs(),
      holdMs: settled.atMs - this.grant.sentMs,
      leaseMs,
      renewals,
      peakUse,
      lost: this.#loss !== undefined,
      settledUs,
      loopDelayMs: settled.loopDelayMs,
      latest: gone && latestGrant(gone),
      server,
      epochs: this.#parts.epochs,
    });
    this.#parts.events.emit(event);
  }

  #tellLoss(by: LostBy, nowMs: number, loopDelayMs: number, answer: NotOwned | undefined): void {
    const sinceGrantMs = nowMs - this.grant.sentMs;
    const latest = latestGrant(answer);
    const { name, fence } = this.identity;
    this.#loss = new LeaseLostError(name, { by, sinceGrantMs, fence, latestFence: latest.latestFence });
    const { epoch } = this.#serverClock;
    const stamp = answer && epoch && { serverUs: answer.serverUs, epoch };
    const facts = { by, sinceGrantMs, leaseMs: this.term.leaseMs, loopDelayMs, ...latest };
    this.#parts.events.emit(lostEvent(this.#parts.moment(stamp), this.identity, facts));
    this.#controller?.abort(this.#loss);
  }

  #stopTimers(): void {
    this.#watchdog?.stop();
    this.#parts.deadlines.cancel(this);
  }

  /** The only way to another state. False: not allowed from here, nothing changed. */
  #to(next: HoldState): boolean {
    if (!NEXT_STATES[this.#state].includes(next)) return false;
    this.#state = next;
    return true;
  }
}
