import type { RenewReply } from '../lua/replies.js';
import { failedResult, latestGrant, notOwned } from './answers.js';
import { type Answer, Command, type CommandListener } from './command.js';
import { renewEvent } from './events.js';
import type { Hold } from './hold.js';
import type { ClientParts } from './parts.js';
import { LOST_ANSWER, WRONG_TYPE } from './redis-errors.js';
import type { FailedResult, NotOwnedResult, RenewResult } from './results.js';
import type { ServerEpoch } from './server-epochs.js';

/** What is known of a renewal when it is sent. */
export interface RenewalPlan {
  readonly leaseMs: number;
  /** Lease left. */
  readonly leftMs: number;
  /** How much later than planned. */
  readonly lateMs: number | undefined;
}

/** One try to extend a hold: sends, tells the event, and moves the hold on. */
export class Renewal implements CommandListener<RenewReply> {
  readonly result: Promise<RenewResult>;
  readonly #parts: ClientParts;
  readonly #hold: Hold;
  readonly #plan: RenewalPlan;
  /** The connection on which it was sent. */
  #epoch: ServerEpoch | undefined;
  #command: Command<RenewReply> | undefined;
  #resolve: (result: RenewResult) => void = () => {};

  constructor(parts: ClientParts, hold: Hold, plan: RenewalPlan) {
    this.#parts = parts;
    this.#hold = hold;
    this.#plan = plan;
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  send(limitMs: number): void {
    const { key, fenceKey, token } = this.#hold.grant.args;
    const args = { key, fenceKey, token, leaseMs: this.#plan.leaseMs };
    this.#command = new Command(this.#parts, this, limitMs, (scripts) => scripts.renew(args));
  }

  /** Should it shorten the lease, then the lease may be short from now on, answer or not. */
  onSend(sentMs: number): void {
    this.#epoch = this.#parts.epochs.current;
    this.#hold.mayEndAt(sentMs + this.#plan.leaseMs);
  }

  /** True when the connection on which it was sent is gone: ioredis may never settle it. */
  isDead(): boolean {
    return this.#epoch !== undefined && this.#epoch !== this.#parts.epochs.current;
  }

  /** Ends it as a lost answer. */
  drop(): void {
    this.#command?.abandon();
    this.#failed(failedResult(LOST_ANSWER));
  }

  onAnswer(answer: Answer<RenewReply>): void {
    this.#hold.noticeEnd(answer.receivedMs);
    if (!this.#hold.isHeld) this.#end({ outcome: 'ended' });
    else if (answer.ok) this.#answered(answer);
    else this.#failed(failedResult(answer.failure));
  }

  /** The answer came when it had been given up; what it says is true all the same. */
  onLate(answer: Answer<RenewReply>): void {
    this.#hold.noticeEnd(answer.receivedMs);
    if (!answer.ok || !this.#hold.isHeld) return;
    if (answer.reply.word === 'renewed') this.#extend(answer);
    else
      this.#hold.lose(
        'renew',
        answer.receivedMs,
        answer.reply.word === 'wrong_type' ? undefined : answer.reply,
      );
  }

  #answered(answer: Answer<RenewReply> & { ok: true }): void {
    const { reply, receivedMs } = answer;
    switch (reply.word) {
      case 'renewed':
        this.#extend(answer);
        this.#tell({ outcome: 'renewed' }, answer);
        this.#end({ outcome: 'renewed', remainingMs: this.#hold.remainingMs() });
        return;
      case 'expired':
      case 'stolen':
        this.#tell(notOwned(reply), answer);
        this.#hold.lose('renew', receivedMs, reply);
        this.#end(notOwned(reply));
        return;
      case 'wrong_type':
        this.#failed(failedResult(WRONG_TYPE));
        this.#hold.lose('renew', receivedMs);
        return;
      default:
        reply satisfies never;
    }
  }

  #extend(answer: Answer<RenewReply> & { ok: true }): void {
    if (answer.reply.word !== 'renewed') return;
    const { epoch, receivedMs, sentMs } = answer;
    const isNewer = sentMs >= this.#hold.term.confirmedMs;
    if (isNewer)
      this.#hold.extend(this.#plan.leaseMs, sentMs, { serverUs: answer.reply.serverUs, receivedMs, epoch });
  }

  #failed(result: FailedResult): void {
    this.#tell(result);
    this.#end(result);
  }

  #tell(result: { outcome: 'renewed' } | NotOwnedResult | FailedResult, answer?: Answer<RenewReply>): void {
    const { reply } = answer?.ok ? answer : { reply: undefined };
    const latest = reply?.word === 'expired' || reply?.word === 'stolen' ? latestGrant(reply) : {};
    const stamp = answer && this.#hold.learn(answer);
    this.#parts.events.emit(
      renewEvent(this.#parts.moment(stamp), this.#hold.identity, result, { ...this.#plan, ...latest }),
    );
  }

  #end(result: RenewResult): void {
    this.#hold.renewalOver(this);
    this.#resolve(result);
  }
}
