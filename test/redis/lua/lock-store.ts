import { randomBytes } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { fenceKey } from '../../../lua/fence-key.js';
import { type LockScripts, loadLockScripts } from '../../../lua/scripts.js';

/** A connection to whatever kind of Redis a suite runs against. */
export type Connection = Redis | Cluster;

/** How a suite gets its Redis. */
export interface Store {
  connection: Connection;
  stop(): Promise<void>;
}

/** One lock of a test, of two rivals who share it. */
export interface TestLock {
  key: string | Buffer;
  fenceKey: string | Buffer;
  /** Arguments of the first holder. */
  mine: {
    key: string | Buffer;
    fenceKey: string | Buffer;
    token: string;
    leaseMs: number;
    fenceTtlMs: number;
  };
  /** The same lock with another token. */
  theirs: TestLock['mine'];
}

/** A lock that no other test uses; `key` to choose the name. */
export function makeLock(key: string | Buffer = `lock:test:${randomBytes(6).toString('hex')}`): TestLock {
  const common = { key, fenceKey: fenceKey(key), leaseMs: 30_000, fenceTtlMs: 3_600_000 };
  const token = () => randomBytes(16).toString('hex');
  return {
    key,
    fenceKey: common.fenceKey,
    mine: { ...common, token: token() },
    theirs: { ...common, token: token() },
  };
}

/** The bindings bound to one connection. */
export function bindScripts(connection: Connection) {
  const scripts: LockScripts = loadLockScripts();
  type Args = TestLock['mine'];
  type Plain = Omit<Args, 'fenceKey'> & { fenceKey: string | Buffer | null };
  return {
    acquire: (args: Plain) => scripts.acquire(connection, args),
    renew: (args: Plain) => scripts.renew(connection, args),
    release: (args: Plain) => scripts.release(connection, args),
    check: (args: Plain) => scripts.check(connection, args),
  };
}

/** Microseconds of a server's clock. */
export async function serverUs(connection: Connection, key: string | Buffer): Promise<number> {
  const reply = await connection.eval("local t = redis.call('TIME') return t[1] * 1000000 + t[2]", 1, key);
  return Number(reply);
}

/** A fence as acquire.lua stores it. */
export function storedFence(fence: number, grantUs: number): string {
  return [fence, grantUs].map((part) => String(part).padStart(16, '0')).join(' ');
}
