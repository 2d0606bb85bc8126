import type { Redis } from 'ioredis';
import type { AcquireReply, CheckReply, NotOwned, ReleaseReply, RenewReply } from '../../../lua/replies.js';
import type { AcquireArgs, LockArgs, LockScripts, RenewArgs } from '../../../lua/scripts.js';
import type { FakeClock } from '../../support/clocks.js';

interface Entry {
  token: string;
  endMs: number;
}

/** What happens to the next command of the fake server. */
export type Fate =
  /** Carried out at once; the answer comes `replyMs` later. */
  | { kind: 'answer'; replyMs?: number }
  /** Carried out, but the answer never comes. */
  | { kind: 'silence' }
  /** Not carried out; rejects. */
  | { kind: 'fail'; error: Error }
  /** Carried out, but rejects. */
  | { kind: 'lose'; error: Error };

/**
 * The lock scripts without Redis, on a fake clock: for stories whose times must be exact. What Redis itself does is
 * tested with Redis. Its own clock runs 5 s ahead of the client's wall clock.
 */
export class FakeLockServer {
  readonly #clock: FakeClock;
  readonly #locks = new Map<string, Entry>();
  readonly #fences = new Map<string, { fence: number; grantUs: number }>();
  /** Every command so far: `acquire lock:a`. */
  readonly commands: string[] = [];
  readonly fates: Fate[] = [];
  fate: Fate = { kind: 'answer' };
  lastFence = 40;
  onCommand: () => void = () => {};

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  get serverUs(): number {
    return Math.round((this.#clock.monoMs() + 1_700_000_005_000) * 1000);
  }

  get scripts(): LockScripts {
    return {
      acquire: (_, args) => this.#run('acquire', args, () => this.#acquire(args)),
      renew: (_, args) => this.#run('renew', args, () => this.#renew(args)),
      release: (_, args) => this.#run('release', args, () => this.#release(args)),
      check: (_, args) => this.#run('check', args, () => this.#check(args)),
      sample: () => Promise.reject(new Error('not used')),
    };
  }

  /** Takes or replaces a lock from outside. */
  steal(key: string, leaseMs = 10_000): void {
    this.#locks.delete(key);
    this.#grant({ key, token: 'the-other-token', leaseMs, fenceKey: 'f', fenceTtlMs: 1 });
  }

  delete(key: string): void {
    this.#locks.delete(key);
  }

  leftMs(key: string): number | undefined {
    const entry = this.#live(key);
    return entry && entry.endMs - this.#clock.monoMs();
  }

  #run<Reply>(name: string, args: LockArgs, act: () => Reply): Promise<Reply> {
    this.commands.push(`${name} ${String(args.key)}`);
    this.onCommand();
    const fate = this.fates.shift() ?? this.fate;
    switch (fate.kind) {
      case 'answer': {
        const reply = act();
        if (fate.replyMs === undefined) return Promise.resolve(reply);
        return new Promise((resolve) => this.#clock.setTimer(() => resolve(reply), fate.replyMs ?? 0));
      }
      case 'silence':
        act();
        return new Promise(() => {});
      case 'lose':
        act();
        return Promise.reject(fate.error);
      case 'fail':
        return Promise.reject(fate.error);
      default:
        return fate satisfies never;
    }
  }

  #acquire(args: AcquireArgs): AcquireReply {
    const entry = this.#live(String(args.key));
    const { serverUs } = this;
    if (entry === undefined) return this.#grant(args);
    const leftMs = entry.endMs - this.#clock.monoMs();
    const latest = this.#fences.get(String(args.key));
    if (entry.token !== args.token) return { word: 'held', serverUs, leftMs };
    return { word: 'own', serverUs, fence: latest?.fence ?? null, grantUs: latest?.grantUs ?? null, leftMs };
  }

  #grant(args: AcquireArgs): AcquireReply {
    const { serverUs } = this;
    const key = String(args.key);
    this.#locks.set(key, { token: args.token, endMs: this.#clock.monoMs() + args.leaseMs });
    if (args.fenceKey === null) return { word: 'granted', serverUs, fence: null };
    this.lastFence += 1;
    this.#fences.set(key, { fence: this.lastFence, grantUs: serverUs });
    return { word: 'granted', serverUs, fence: this.lastFence };
  }

  #renew(args: RenewArgs): RenewReply {
    const entry = this.#live(String(args.key));
    if (entry?.token !== args.token) return this.#notOwned(args, entry);
    entry.endMs = this.#clock.monoMs() + args.leaseMs;
    return { word: 'renewed', serverUs: this.serverUs };
  }

  #release(args: LockArgs): ReleaseReply {
    const entry = this.#live(String(args.key));
    if (entry?.token !== args.token) return this.#notOwned(args, entry);
    this.#locks.delete(String(args.key));
    return { word: 'released', serverUs: this.serverUs };
  }

  #check(args: LockArgs): CheckReply {
    const entry = this.#live(String(args.key));
    if (entry?.token !== args.token) return this.#notOwned(args, entry);
    return { word: 'held', serverUs: this.serverUs, leftMs: entry.endMs - this.#clock.monoMs() };
  }

  #notOwned(args: LockArgs, entry: Entry | undefined): NotOwned {
    const latest = args.fenceKey === null ? undefined : this.#fences.get(String(args.key));
    return {
      word: entry === undefined ? 'expired' : 'stolen',
      serverUs: this.serverUs,
      latestFence: latest?.fence ?? null,
      latestGrantUs: latest?.grantUs ?? null,
    };
  }

  #live(key: string): Entry | undefined {
    const entry = this.#locks.get(key);
    return entry !== undefined && entry.endMs > this.#clock.monoMs() ? entry : undefined;
  }
}

/** As much of an ioredis connection as a lock client with other scripts looks at. */
export function fakeConnection(status = 'ready', runId = 'a'.repeat(40)): Redis & { status: string } {
  const listeners = new Map<string, Set<() => void>>();
  const connection = {
    status,
    isCluster: false,
    options: {
      keyPrefix: '',
      commandTimeout: 1000,
      enableOfflineQueue: false,
      reconnectOnError: () => true,
      retryStrategy: () => 1,
    },
    info: () => Promise.resolve(`# Server\r\nrun_id:${runId}\r\n`),
    connect: () => Promise.resolve(),
    on: (name: string, listener: () => void) => {
      listeners.set(name, (listeners.get(name) ?? new Set()).add(listener));
    },
    off: (name: string, listener: () => void) => {
      listeners.get(name)?.delete(listener);
    },
    emit: (name: string) => {
      for (const listener of listeners.get(name) ?? []) listener();
    },
    listenerCount: (name: string) => listeners.get(name)?.size ?? 0,
  };
  return connection as unknown as Redis & { status: string };
}
