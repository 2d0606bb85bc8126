import type { AcquireMode } from '../contract/outcomes.js';
import type { AcquireReply, Granted, Held, Own } from '../lua/replies.js';
import type { AcquireArgs } from '../lua/scripts.js';
import { AcquiredEvent, type AcquireFacts, AcquireFailedEvent } from './acquire-events.js';
import { type Answer, Command, type CommandListener } from './command.js';
import { type DeadlineItem, NOT_QUEUED } from './deadline-queue.js';
import type { ServerStamp } from './events.js';
import { Hold } from './hold.js';
import { HoldIdentity } from './hold-identity.js';
import { Lease } from './lease.js';
import type { LockName } from './lock-name.js';
import type { AcquirePlan } from './options.js';
import type { ClientParts } from './parts.js';
import { isTransient, type RedisFailure, WRONG_TYPE } from './redis-errors.js';
import type { AcquireFailure, AcquireResult } from './results.js';
import { fullJitterMs } from './retry.js';
import type { ServerTime } from './server-clock.js';

/** How much longer than `waitMs` the answer to the last attempt may take, in ms: a network's round trip with room to spare. */
export const REPLY_GRACE_MS = 100;

/** `new` → `asking` ⇄ `pausing` → `over`. */
type CallState = 'new' | 'asking' | 'pausing' | 'over';

type OkAnswer = Answer<AcquireReply> & { ok: true };

/**
 * One call to acquire a lock: all attempts under one token, from the first send to the one outcome. Whatever may have
 * been granted without becoming a lease is taken back by a clean-up.
 */
export class AcquireCall implements DeadlineItem, CommandListener<AcquireReply> {
  dueMs = 0;
  queueIndex = NOT_QUEUED;
  readonly #parts: ClientParts;
  readonly #name: LockName;
  readonly #plan: AcquirePlan;
  readonly #args: AcquireArgs;
  readonly #mode: AcquireMode;
  readonly #startMs: number;
  readonly #waitEndMs: number;
  /** Latest grant that leaves the work its time before the business deadline, on the monotonic clock. */
  readonly #latestGrantMs: number;
  readonly #traceId: string | undefined;
  readonly #resolve: (result: AcquireResult) => void;
  #state: CallState = 'new';
  #attempts = 0;
  #command: Command<AcquireReply> | undefined;
  /** Send time of the first attempt that may have been granted though no answer said so. */
  #unsettledMs: number | undefined;
  #unsettledFailure: RedisFailure | undefined;
  #mustCleanUp = false;

  constructor(
    parts: ClientParts,
    name: LockName,
    plan: AcquirePlan,
    waits: boolean,
    resolve: (result: AcquireResult) => void,
  ) {
    this.#parts = parts;
    this.#name = name;
    this.#plan = plan;
    this.#resolve = resolve;
    const waitMs = waits ? plan.waitMs : 0;
    this.#mode = waitMs > 0 ? 'wait' : 'try';
    this.#startMs = parts.clock.monoMs();
    this.#waitEndMs = this.#startMs + waitMs;
    this.#latestGrantMs = latestGrantMs(plan, this.#startMs, parts.clock.wallMs());
    this.#traceId = parts.traceId();
    this.#args = {
      key: name.key,
      fenceKey: plan.fence ? name.fenceKey : null,
      token: parts.tokens.next(),
      leaseMs: plan.leaseMs,
      fenceTtlMs: parts.fenceTtlMs,
    };
  }

  start(): void {
    const refusal = this.#refusal();
    if (refusal !== undefined) {
      this.#finish(refusal);
      return;
    }
    this.#ask(this.#startMs);
    this.#parts.calls.add(this);
    this.#plan.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Ends the call because the client closes. */
  close(): void {
    this.#finish({ outcome: 'aborted', reason: 'closed' });
  }

  /** A pause is over. */
  onDue(nowMs: number): void {
    if (this.#state !== 'pausing') return;
    if (this.#isTooLate(nowMs)) this.#finish({ outcome: 'timeout', reason: 'deadline' });
    else this.#ask(nowMs);
  }

  onAnswer(answer: Answer<AcquireReply>): void {
    if (this.#state !== 'asking') return;
    if (!answer.ok) {
      this.#failed(answer.failure, answer.sentMs, answer.receivedMs);
      return;
    }
    const { reply } = answer;
    switch (reply.word) {
      case 'granted':
        this.#granted(answer, reply, answer.sentMs);
        return;
      case 'own':
        // An earlier send under this token was granted, so the lease counts from the first that may have been.
        this.#granted(answer, reply, Math.min(this.#unsettledMs ?? answer.sentMs, answer.sentMs));
        return;
      case 'held':
        this.#contended(reply, answer);
        return;
      case 'wrong_type':
        this.#failed(WRONG_TYPE, answer.sentMs, answer.receivedMs);
        return;
      default:
        reply satisfies never;
    }
  }

  /** The call is over, and now an answer says that the lock was granted: nobody will use it. */
  onLate(answer: Answer<AcquireReply>): void {
    // A further attempt may still make a lease of this grant, which a clean-up would delete under it.
    if (this.#state !== 'over') return;
    const isGrant = answer.ok && (answer.reply.word === 'granted' || answer.reply.word === 'own');
    if (isGrant && this.#mustCleanUp) this.#parts.cleanUp.start(this.#args);
  }

  #refusal(): AcquireFailure | undefined {
    const { signal } = this.#plan;
    if (signal?.aborted) return { outcome: 'aborted', reason: 'signal', cause: signal.reason };
    if (this.#isTooLate(this.#startMs)) return { outcome: 'timeout', reason: 'deadline' };
    const { shedding } = this.#parts;
    if (shedding && !shedding.admits(this.#name.resource, this.#startMs))
      return { outcome: 'aborted', reason: 'shed' };
    return undefined;
  }

  #ask(nowMs: number): void {
    this.#state = 'asking';
    this.#attempts += 1;
    this.#command = new Command(this.#parts, this, this.#limitMs(nowMs), (scripts, command) =>
      scripts.acquire(this.#args, command),
    );
  }

  /** How long the answer of an attempt is waited for. */
  #limitMs(nowMs: number): number {
    let limitMs = this.#parts.commandTimeoutMs;
    if (this.#mode === 'wait')
      limitMs = Math.min(limitMs, Math.max(0, this.#waitEndMs - nowMs) + REPLY_GRACE_MS);
    return Math.min(limitMs, Math.max(0, this.#latestGrantMs - nowMs));
  }

  #granted(answer: OkAnswer, reply: Granted | Own, sentMs: number): void {
    const { receivedMs, epoch } = answer;
    this.#mustCleanUp = true;
    if (receivedMs >= sentMs + this.#plan.leaseMs) {
      this.#finish({ outcome: 'timeout', reason: 'slow_reply' }, { serverUs: reply.serverUs, epoch });
      return;
    }
    if (this.#isTooLate(receivedMs)) {
      this.#finish({ outcome: 'timeout', reason: 'deadline' }, { serverUs: reply.serverUs, epoch });
      return;
    }
    this.#mustCleanUp = false;
    this.#hold(reply, sentMs, { serverUs: reply.serverUs, receivedMs, epoch });
  }

  #hold(reply: Granted | Own, sentMs: number, time: ServerTime): void {
    const identity = new HoldIdentity(this.#name, reply.fence ?? undefined, this.#args.token);
    const serverUs = grantUs(reply, this.#plan.leaseMs);
    const args = this.#args;
    const hold = new Hold(this.#parts, { identity, args, plan: this.#plan, sentMs, grantUs: serverUs, time });
    hold.start();
    this.#end();
    const stamp = serverUs === time.serverUs ? time : { serverUs, epoch: time.epoch };
    this.#parts.events.emit(new AcquiredEvent(identity, this.#facts(time.receivedMs, stamp)));
    this.#resolve({ outcome: 'acquired', lease: new Lease(this.#parts, hold) });
  }

  #contended(reply: Held, { receivedMs, epoch }: OkAnswer): void {
    const stamp = { serverUs: reply.serverUs, epoch };
    const { leftMs } = reply;
    if (this.#mode === 'try') this.#finish({ outcome: 'contended', leftMs }, stamp);
    else if (this.#isTooLate(receivedMs))
      this.#finish({ outcome: 'timeout', reason: 'deadline', leftMs }, stamp);
    else if (receivedMs >= this.#waitEndMs)
      this.#finish({ outcome: 'timeout', reason: 'wait_limit', leftMs }, stamp);
    else this.#pause(receivedMs);
  }

  #failed(failure: RedisFailure, sentMs: number, nowMs: number): void {
    if (!failure.notDone) {
      this.#mustCleanUp = true;
      this.#unsettledMs ??= sentMs;
      this.#unsettledFailure ??= failure;
    }
    if (this.#isTooLate(nowMs)) this.#finish({ outcome: 'timeout', reason: 'deadline' });
    else if (this.#mode === 'try' || !isTransient(failure.reason) || nowMs >= this.#waitEndMs)
      this.#finish(this.#failure(failure));
    else this.#pause(nowMs);
  }

  /** `unknown` as long as any attempt may have been granted. */
  #failure(last: RedisFailure): AcquireFailure {
    const { reason, cause } = this.#unsettledFailure ?? last;
    if (this.#unsettledFailure !== undefined) return { outcome: 'unknown', reason, cause };
    return { outcome: 'error', reason: last.reason, cause: last.cause };
  }

  #pause(nowMs: number): void {
    this.#state = 'pausing';
    const { retryBaseMs, retryCapMs } = this.#plan;
    const untilMs = Math.min(this.#waitEndMs, this.#latestGrantMs);
    const pauseMs = fullJitterMs(this.#attempts, retryBaseMs, retryCapMs, this.#parts.random);
    this.#parts.deadlines.set(this, Math.min(nowMs + pauseMs, untilMs));
  }

  /** A grant now would leave no time for the work. */
  #isTooLate(nowMs: number): boolean {
    return nowMs >= this.#latestGrantMs;
  }

  readonly #onAbort = (): void => {
    this.#finish({ outcome: 'aborted', reason: 'signal', cause: this.#plan.signal?.reason });
  };

  #finish(failure: AcquireFailure, stamp?: ServerStamp): void {
    if (this.#state === 'over') return;
    const wasAsking = this.#state === 'asking' && this.#command?.isUnanswered === true;
    this.#end();
    if (wasAsking) this.#mustCleanUp = true;
    if (this.#mustCleanUp) this.#parts.cleanUp.start(this.#args);
    const facts = this.#facts(this.#parts.clock.monoMs(), stamp);
    this.#parts.events.emit(new AcquireFailedEvent(this.#name, facts, failure, this.#args.token));
    this.#resolve(failure);
  }

  #end(): void {
    this.#state = 'over';
    this.#command?.abandon();
    this.#parts.deadlines.cancel(this);
    this.#parts.calls.delete(this);
    this.#plan.signal?.removeEventListener('abort', this.#onAbort);
  }

  #facts(nowMs: number, server: ServerStamp | undefined): AcquireFacts {
    return {
      atMs: this.#parts.clock.wallMs(),
      mode: this.#mode,
      waitMs: nowMs - this.#startMs,
      attempts: this.#attempts,
      plan: this.#plan,
      traceId: this.#traceId,
      server,
      epochs: this.#parts.epochs,
    };
  }
}

/** An answer to a resend tells when the grant was, or what is left of its lease. */
function grantUs(reply: Granted | Own, leaseMs: number): number {
  if (reply.word === 'granted') return reply.serverUs;
  if (reply.grantUs !== null) return reply.grantUs;
  return Math.max(0, reply.serverUs - Math.max(0, leaseMs - (reply.leftMs ?? leaseMs)) * 1000);
}

/** The deadline is wall time, read once: from here on only the monotonic clock counts. */
function latestGrantMs(plan: AcquirePlan, nowMs: number, wallMs: number): number {
  if (plan.deadline === undefined) return Number.POSITIVE_INFINITY;
  return nowMs + (Number(plan.deadline) - wallMs) - (plan.workTimeoutMs ?? 0);
}
