import type { EventChannel } from '../../../../client/emitter/emitter.js';
import type { Clock } from '../../../../contract/clock.js';
import type { LockEvent } from '../../../../contract/event.js';
import type { AcquireReply, ReleaseReply, RenewReply } from '../../../../lua/replies.js';
import type { AcquireArgs, LockArgs, LockScripts, RenewArgs } from '../../../../lua/scripts.js';
import type { Rule } from './invariants.js';
import { ModelRedis } from './model-redis.js';

/** A fault put between a client and its world, as if the client itself had it. */
export interface Mutation {
  readonly server?: new (...args: ConstructorParameters<typeof ModelRedis>) => ModelRedis;
  readonly scripts?: (scripts: LockScripts, clock: Clock) => LockScripts;
  readonly channel?: (channel: EventChannel) => EventChannel;
  /** The clock that the client sees. */
  readonly clock?: (clock: Clock) => Clock;
}

/** What is broken, how, and the promise that must be found broken. */
export interface Mutant {
  readonly name: string;
  readonly rule: Rule;
  readonly make: () => Mutation;
}

class RecreatingServer extends ModelRedis {
  override renew(args: RenewArgs): RenewReply {
    if (this.valueOf(String(args.key)) === undefined) this.set(String(args.key), args.token, args.leaseMs);
    return super.renew(args);
  }
}

class BlindlyDeletingServer extends ModelRedis {
  override release(args: LockArgs): ReleaseReply {
    this.delete(String(args.key));
    return super.release(args);
  }
}

class ForgetfulServer extends ModelRedis {
  protected override nextFence(): number {
    return 42;
  }
}

class GenerousServer extends ModelRedis {
  override acquire(args: AcquireArgs): AcquireReply {
    this.delete(String(args.key));
    return super.acquire(args);
  }
}

/** Lets the events of one kind through as `change` says. */
function onEvents(change: (event: LockEvent) => LockEvent[]): Mutation {
  const channel = (to: EventChannel): EventChannel => ({
    ...to,
    emit: (pending) => {
      for (const event of change(pending.encode())) to.emit({ urgent: pending.urgent, encode: () => event });
    },
  });
  return { channel };
}

/** The client's clock stands still while an acquire is under way: its lease counts from the reply. */
function countFromReply(): Mutation {
  const shifts = new Map<Clock, { ms: number }>();
  const clock = (real: Clock): Clock => {
    const shift = { ms: 0 };
    const late: Clock = {
      wallMs: () => real.wallMs(),
      monoMs: () => real.monoMs() - shift.ms,
      setTimer: (callback, delayMs) => real.setTimer(callback, delayMs),
    };
    shifts.set(late, shift);
    return late;
  };
  const scripts = (own: LockScripts, on: Clock): LockScripts => ({
    ...own,
    acquire: async (connection, args) => {
      const sentMs = on.monoMs();
      const reply = await own.acquire(connection, args);
      const shift = shifts.get(on);
      if (shift !== undefined && reply.word === 'granted') shift.ms += on.monoMs() - sentMs;
      return reply;
    },
  });
  return { clock, scripts };
}

/** The clean-up that follows a call without a lease is never sent. */
function withoutCleanUp(): Mutation {
  const granted = new Set<string>();
  return {
    scripts: (own) => ({
      ...own,
      acquire: async (connection, args) => {
        const reply = await own.acquire(connection, args);
        granted.add(args.token);
        return reply;
      },
      release: (connection, args) =>
        granted.has(args.token)
          ? own.release(connection, args)
          : Promise.resolve({ word: 'expired', serverUs: 1, latestFence: null, latestGrantUs: null }),
    }),
  };
}

/** Every renewal is sent twice. */
function renewTwice(): Mutation {
  return {
    scripts: (own) => ({
      ...own,
      renew: (connection, args) => {
        own.renew(connection, args).catch(() => {});
        return own.renew(connection, args);
      },
    }),
  };
}

/** A timer that nobody takes back. */
function leakTimers(): Mutation {
  return {
    clock: (real) => ({
      wallMs: () => real.wallMs(),
      monoMs: () => real.monoMs(),
      setTimer: (callback, delayMs) => {
        real.setTimer(() => {}, delayMs + 100_000);
        return real.setTimer(callback, delayMs);
      },
    }),
  };
}

/** No timer tells a loss: only who looks at the clock learns of it. */
function deafToDeadlines(): Mutation {
  return onEvents((event) => (event.kind === 'lost' && event.by === 'deadline' ? [] : [event]));
}

function withoutLatestFence(event: LockEvent): LockEvent[] {
  if (!('latestFence' in event)) return [event];
  const { latestFence: _, ...rest } = event;
  return [rest as LockEvent];
}

/** A renewal is told again after the release of its hold. */
function tellLate(): Mutation {
  const renewals = new Map<string, LockEvent>();
  return onEvents((event) => {
    if (event.kind === 'renew') renewals.set(event.owner, event);
    const late = event.kind === 'release' ? renewals.get(event.owner) : undefined;
    return late === undefined ? [event] : [event, late];
  });
}

/** A release that found the lock gone tells neither when the work settled nor when the other was granted. */
export function tellNoTimes(): Mutation {
  return onEvents(withoutTimes);
}

function withoutTimes(event: LockEvent): LockEvent[] {
  if (event.kind !== 'release' || !('latestGrantUs' in event)) return [event];
  const { settledUs: _, latestGrantUs: __, ...rest } = event;
  return [rest as LockEvent];
}

export const MUTANTS: readonly Mutant[] = [
  { name: 'the lease counts from the reply', rule: 'exclusion', make: countFromReply },
  { name: 'another holder is overrun', rule: 'exclusion', make: () => ({ server: GenerousServer }) },
  {
    name: 'release deletes without comparing',
    rule: 'exclusion',
    make: () => ({ server: BlindlyDeletingServer }),
  },
  { name: 'renew re-creates a key', rule: 'renew_creates', make: () => ({ server: RecreatingServer }) },
  { name: 'two renewals are under way', rule: 'renew_twice', make: renewTwice },
  { name: 'fences do not rise', rule: 'fence_order', make: () => ({ server: ForgetfulServer }) },
  { name: 'nothing is cleaned up', rule: 'orphan', make: withoutCleanUp },
  {
    name: 'a loss is told twice',
    rule: 'lost_once',
    make: () => onEvents((event) => (event.kind === 'lost' ? [event, event] : [event])),
  },
  { name: 'a loss is not told', rule: 'lost_once', make: deafToDeadlines },
  {
    name: 'a release is not told',
    rule: 'final_event',
    make: () => onEvents((event) => (event.kind === 'release' ? [] : [event])),
  },
  { name: 'a renewal is told after the release', rule: 'event_after_release', make: tellLate },
  {
    name: 'answers do not name the latest fence',
    rule: 'overlap_missed',
    make: () => onEvents(withoutLatestFence),
  },
  { name: 'timers are left behind', rule: 'timers', make: leakTimers },
];
