import type { Redis } from 'ioredis';

/** What the tests use of redlock. Its manifest hides its types from NodeNext, so they are described here. */
export interface Redlock {
  acquire(resources: string[], leaseMs: number): Promise<RedlockLock>;
}

export interface RedlockLock {
  value: string;
  release(): Promise<unknown>;
}

/** A redlock over these connections. */
export async function makeRedlock(clients: readonly Redis[]): Promise<Redlock> {
  const name = 'redlock';
  const { default: RedlockClass }: { default: new (clients: readonly Redis[]) => Redlock } = await import(
    name
  );
  return new RedlockClass(clients);
}
