import type { Redis } from 'ioredis';

/** What the tests use of redlock 4. It has no types of its own. */
export interface Redlock4 {
  lock(resource: string, leaseMs: number): PromiseLike<Redlock4Lock>;
  unlock(lock: Redlock4Lock): PromiseLike<unknown>;
  extend(lock: Redlock4Lock, leaseMs: number): PromiseLike<Redlock4Lock>;
}

export interface Redlock4Lock {
  value: string;
  unlock(): PromiseLike<unknown>;
  extend(leaseMs: number): PromiseLike<Redlock4Lock>;
}

/** Settings of redlock 4 that tests change; the others stay at its defaults. */
export interface Redlock4Settings {
  retryCount?: number;
  /** Pause between two tries, in ms. */
  retryDelay?: number;
  retryJitter?: number;
}

/** A redlock 4 over these connections. */
export async function makeRedlock4(
  clients: readonly Redis[],
  settings: Redlock4Settings = {},
): Promise<Redlock4> {
  const name = 'redlock4';
  const {
    default: RedlockClass,
  }: { default: new (clients: readonly Redis[], settings: Redlock4Settings) => Redlock4 } = await import(
    name
  );
  return new RedlockClass(clients, settings);
}
