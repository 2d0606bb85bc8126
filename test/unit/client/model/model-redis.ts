import type {
  AcquireReply,
  CheckReply,
  NotOwned,
  ReleaseReply,
  RenewReply,
  WrongType,
} from '../../../../lua/replies.js';
import type { AcquireArgs, LockArgs, RenewArgs } from '../../../../lua/scripts.js';

/** One lock script and its arguments. */
export type ScriptCall =
  | { readonly name: 'acquire'; readonly args: AcquireArgs }
  | { readonly name: 'renew'; readonly args: RenewArgs }
  | { readonly name: 'release'; readonly args: LockArgs }
  | { readonly name: 'check'; readonly args: LockArgs };

export type ScriptReply = AcquireReply | RenewReply | ReleaseReply | CheckReply;

interface Entry {
  /** Undefined: another type than a string. */
  readonly value: string | undefined;
  /** On the server's clock; undefined: never expires. */
  endMs: number | undefined;
}

const LARGEST_INTEGER = Number.MAX_SAFE_INTEGER;

/**
 * What the lock scripts do, without Redis and on a clock of its own, so that histories are exact and fast. That it
 * answers as the real scripts do is tested against a real server.
 */
export class ModelRedis {
  readonly runId: string;
  readonly #nowUs: () => number;
  readonly #keys = new Map<string, Entry>();

  /** @param nowUs the server's own clock in whole µs */
  constructor(runId: string, nowUs: () => number) {
    this.runId = runId;
    this.#nowUs = nowUs;
  }

  run(call: ScriptCall): ScriptReply {
    switch (call.name) {
      case 'acquire':
        return this.acquire(call.args);
      case 'renew':
        return this.renew(call.args);
      case 'release':
        return this.release(call.args);
      case 'check':
        return this.check(call.args);
      default:
        return call satisfies never;
    }
  }

  acquire(args: AcquireArgs): AcquireReply {
    const serverUs = this.#nowUs();
    const entry = this.#live(String(args.key));
    if (entry !== undefined) {
      if (entry.value === undefined) return { word: 'wrong_type', of: 'lock' };
      const leftMs = this.#leftMs(entry);
      if (entry.value !== args.token) return { word: 'held', serverUs, leftMs };
      const { fence, grantUs } = this.latest(args.fenceKey, LARGEST_INTEGER - 1);
      return { word: 'own', serverUs, fence, grantUs, leftMs };
    }
    if (args.fenceKey !== null && this.#isOtherType(args.fenceKey))
      return { word: 'wrong_type', of: 'fence' };
    return this.grant(args, serverUs);
  }

  /** The lock is free. Apart, so that a broken server can be made of this one. */
  protected grant(args: AcquireArgs, serverUs: number): AcquireReply {
    const fence = args.fenceKey === null ? null : this.nextFence(args.fenceKey, serverUs);
    if (fence !== null) {
      const aheadMs = Math.max(0, Math.ceil((fence - serverUs) / 1000));
      this.set(String(args.fenceKey), `${digits(fence)} ${digits(serverUs)}`, args.fenceTtlMs + aheadMs);
    }
    this.set(String(args.key), args.token, args.leaseMs);
    return { word: 'granted', serverUs, fence };
  }

  protected nextFence(fenceKey: string | Buffer, serverUs: number): number {
    const latest = this.latest(fenceKey, LARGEST_INTEGER - 1).fence;
    return latest !== null && latest >= serverUs ? latest + 1 : serverUs;
  }

  renew(args: RenewArgs): RenewReply {
    const entry = this.#live(String(args.key));
    if (entry === undefined || entry.value !== args.token) return this.#notOwned(args, entry);
    entry.endMs = this.#nowMs() + args.leaseMs;
    return { word: 'renewed', serverUs: this.#nowUs() };
  }

  release(args: LockArgs): ReleaseReply {
    const entry = this.#live(String(args.key));
    if (entry === undefined || entry.value !== args.token) return this.#notOwned(args, entry);
    this.delete(String(args.key));
    return { word: 'released', serverUs: this.#nowUs() };
  }

  check(args: LockArgs): CheckReply {
    const entry = this.#live(String(args.key));
    if (entry === undefined || entry.value !== args.token) return this.#notOwned(args, entry);
    return { word: 'held', serverUs: this.#nowUs(), leftMs: this.#leftMs(entry) };
  }

  /** SET by somebody who is none of ours; undefined as value: a hash. */
  set(key: string, value: string | undefined, lifeMs?: number): void {
    this.#keys.set(key, { value, endMs: lifeMs === undefined ? undefined : this.#nowMs() + lifeMs });
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }

  persist(key: string): void {
    const entry = this.#live(key);
    if (entry !== undefined) entry.endMs = undefined;
  }

  flush(): void {
    this.#keys.clear();
  }

  /** The value of a key that lives; undefined without one. */
  valueOf(key: string): string | undefined {
    return this.#live(key)?.value;
  }

  /** Until when a key lives, on the server's clock. */
  endMsOf(key: string): number | undefined {
    return this.#live(key)?.endMs;
  }

  /** What the fence key tells of the latest grant. */
  latest(
    fenceKey: string | Buffer | null,
    largest = LARGEST_INTEGER,
  ): { fence: number | null; grantUs: number | null } {
    const stored = fenceKey === null ? undefined : this.#live(String(fenceKey))?.value;
    const [, fence = 0, grantUs = 0] = /^(\d{16}) (\d{16})$/.exec(stored ?? '')?.map(Number) ?? [];
    const isReadable = fence >= 1 && fence <= largest && grantUs <= LARGEST_INTEGER;
    return isReadable ? { fence, grantUs } : { fence: null, grantUs: null };
  }

  #notOwned(args: LockArgs, entry: Entry | undefined): NotOwned | WrongType {
    if (entry !== undefined && entry.value === undefined) return { word: 'wrong_type', of: 'lock' };
    const { fence, grantUs } = this.latest(args.fenceKey);
    const word = entry === undefined ? 'expired' : 'stolen';
    return { word, serverUs: this.#nowUs(), latestFence: fence, latestGrantUs: grantUs };
  }

  #isOtherType(key: string | Buffer): boolean {
    const entry = this.#live(String(key));
    return entry !== undefined && entry.value === undefined;
  }

  #nowMs(): number {
    return Math.floor(this.#nowUs() / 1000);
  }

  /** A key still lives in the very millisecond of its end, as in Redis; and who looks at it later, deletes it. */
  #live(key: string): Entry | undefined {
    const entry = this.#keys.get(key);
    if (entry?.endMs !== undefined && this.#nowMs() > entry.endMs) this.#keys.delete(key);
    return this.#keys.get(key);
  }

  #leftMs({ endMs }: Entry): number | null {
    return endMs === undefined ? null : Math.max(0, endMs - this.#nowMs());
  }
}

function digits(value: number): string {
  return String(value).padStart(16, '0');
}
