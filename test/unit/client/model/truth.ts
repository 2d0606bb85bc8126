import type { Lease } from '../../../../client/index.js';
import type { LockEvent } from '../../../../contract/event.js';
import type { NotOwned } from '../../../../lua/replies.js';
import type { ModelRedis, ScriptReply } from './model-redis.js';
import type { Request } from './network.js';

/** A lock was granted, by whatever script or command. */
export interface TrueGrant {
  readonly order: number;
  readonly atMs: number;
  readonly server: ModelRedis;
  readonly key: string;
  readonly token: string;
  readonly fence: number | null;
  /** Carried out when its connection was broken already. */
  readonly isStray: boolean;
}

/** The answer to the release of a hold: what the server said, and when. */
export interface TrueAnswer {
  readonly order: number;
  readonly atMs: number;
  readonly server: ModelRedis;
  readonly reply: ScriptReply;
}

/** What is so about one hold, whatever its client believes. */
export interface TrueHold {
  readonly process: number;
  readonly key: string;
  readonly token: string;
  readonly owner: string;
  readonly lease: Lease;
  /** The client told of the grant. */
  readonly acquiredAtMs: number;
  /** The client's process asked for the release, or closed its client. */
  settled: { order: number; atMs: number } | undefined;
  releases: number;
  /** A renewal was asked for, by hand or by a watchdog: then its end is not plain. */
  mayBeRenewed: boolean;
}

/** An event as it left a client. */
export interface SeenEvent {
  readonly order: number;
  readonly atMs: number;
  readonly process: number;
  readonly event: LockEvent;
  /** Emitted when `close()` had flushed for the last time: nobody gets it. */
  readonly isTooLate: boolean;
  /** As the envelope of its batch names it. */
  readonly serverId: string | undefined;
}

/** The one truth of a history: what servers did and applications did, in one order. */
export class Truth {
  readonly grants: TrueGrant[] = [];
  readonly holds: TrueHold[] = [];
  readonly events: SeenEvent[] = [];
  /** By token: the answers to its releases, clean-ups included, in the order of carrying out. */
  readonly releases = new Map<string, TrueAnswer[]>();
  /** When each answer came to its client, by the reply itself. */
  readonly receivedMs = new Map<ScriptReply, number>();
  /** Servers that have forgotten their fences. */
  readonly flushed = new Set<ModelRedis>();
  /** Undefined: nothing has happened that breaks a lock from outside. */
  firstFault: { what: string; atMs: number } | undefined;
  #order = 0;

  next(): number {
    this.#order += 1;
    return this.#order;
  }

  fault(what: string, atMs: number): void {
    this.firstFault ??= { what, atMs };
  }

  granted(grant: Omit<TrueGrant, 'order'>): void {
    this.grants.push({ ...grant, order: this.next() });
  }

  /** One command was carried out. */
  carried(server: ModelRedis, { call }: Request, reply: ScriptReply, atMs: number, isStray: boolean): void {
    const { token } = call.args;
    const key = String(call.args.key);
    if (reply.word === 'granted') this.granted({ atMs, server, key, token, fence: reply.fence, isStray });
    if (call.name !== 'release') return;
    const answers = this.releases.get(token) ?? [];
    this.releases.set(token, answers);
    answers.push({ order: this.next(), atMs, server, reply });
  }

  /** What clients told, to be judged. */
  get told(): SeenEvent[] {
    return this.events.filter(({ isTooLate }) => !isTooLate);
  }

  eventsOf(owner: string): SeenEvent[] {
    return this.told.filter(({ event }) => 'owner' in event && event.owner === owner);
  }
  grantsOf(token: string): TrueGrant[] {
    return this.grants.filter((grant) => grant.token === token);
  }

  /** The grant that a hold began with. */
  grantOf(hold: TrueHold): TrueGrant | undefined {
    const grants = this.grantsOf(hold.token);
    return grants.findLast((grant) => grant.atMs <= hold.acquiredAtMs && grant.fence === hold.lease.fence);
  }

  /** Others who were granted the lock while the work of a hold went on: mutual exclusion was violated. */
  intruders(hold: TrueHold): TrueGrant[] {
    const from = this.grantOf(hold)?.order ?? 0;
    const until = hold.settled?.order ?? Number.POSITIVE_INFINITY;
    return this.grants.filter(
      ({ key, token, order }) => key === hold.key && token !== hold.token && order > from && order < until,
    );
  }
}

export function isNotOwned(reply: ScriptReply): reply is NotOwned {
  return reply.word === 'expired' || reply.word === 'stolen';
}
