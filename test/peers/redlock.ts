import type { Redis } from 'ioredis';

/** What the tests use of redlock. Its manifest hides its types from NodeNext, so they are described here. */
export interface Redlock {
  acquire(resources: string[], leaseMs: number): Promise<RedlockLock>;
}

export interface RedlockLock {
  value: string;
  release(): Promise<unknown>;
}

/** Settings of redlock that tests change; the others stay at its defaults. */
export interface RedlockSettings {
  retryCount?: number;
  /** Pause between two tries, in ms. */
  retryDelay?: number;
  retryJitter?: number;
}

/** A redlock over these connections. */
export async function makeRedlock(
  clients: readonly Redis[],
  settings: RedlockSettings = {},
): Promise<Redlock> {
  const name = 'redlock';
  const {
    default: RedlockClass,
  }: { default: new (clients: readonly Redis[], settings: RedlockSettings) => Redlock } = await import(name);
  return new RedlockClass(clients, settings);
}
