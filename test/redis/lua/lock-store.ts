import { randomBytes } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { expect } from 'vitest';
import { fenceKey } from '../../../lua/fence-key.js';
import type { AcquireReply, ReleaseReply } from '../../../lua/replies.js';
import { type LockScripts, loadLockScripts } from '../../../lua/scripts.js';
import type { TogetherCall, TogetherReply } from '../../../lua/together.js';

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

type Plain = Omit<TestLock['mine'], 'fenceKey'> & { fenceKey: string | Buffer | null };

/** The bindings bound to one connection. */
export function bindScripts(connection: Connection) {
  const scripts: LockScripts = loadLockScripts();
  return {
    acquire: (args: Plain) => scripts.acquire(connection, args),
    renew: (args: Plain) => scripts.renew(connection, args),
    release: (args: Plain) => scripts.release(connection, args),
    check: (args: Plain) => scripts.check(connection, args),
  };
}

/** As {@link bindScripts}, but every acquire and release goes in one command with those of two other locks. */
export function bindTogether(connection: Connection): ReturnType<typeof bindScripts> {
  const scripts: LockScripts = loadLockScripts();
  const run = async (call: TogetherCall): Promise<TogetherReply> => {
    const [before, after] = [makeLock(), makeLock()];
    const calls: TogetherCall[] = [
      { script: 'acquire', args: before.mine },
      { script: 'release', args: { ...before.mine, fenceKey: null } },
      call,
      { script: 'acquire', args: { ...after.mine, fenceKey: null } },
      { script: 'release', args: after.mine },
    ];
    const replies = (await scripts.together?.(connection, calls)) ?? [];
    const [reply] = replies.splice(2, 1);
    // What is refused to the middle one is refused to its neighbours, or nothing is: never anything in between.
    const isFull = replies.some((other) => other instanceof Error);
    if (!isFull) expect(replies.map((other) => 'word' in other && other.word)).toEqual(UNDISTURBED);
    if (reply === undefined || reply instanceof Error) throw reply;
    return reply;
  };
  return {
    ...bindScripts(connection),
    acquire: (args) => run({ script: 'acquire', args }) as Promise<AcquireReply>,
    release: (args) => run({ script: 'release', args }) as Promise<ReleaseReply>,
  };
}

const UNDISTURBED = ['granted', 'released', 'granted', 'released'];

/** Microseconds of a server's clock. */
export async function serverUs(connection: Connection, key: string | Buffer): Promise<number> {
  const reply = await connection.eval("local t = redis.call('TIME') return t[1] * 1000000 + t[2]", 1, key);
  return Number(reply);
}

/** A fence as acquire.lua stores it. */
export function storedFence(fence: number, grantUs: number): string {
  return [fence, grantUs].map((part) => String(part).padStart(16, '0')).join(' ');
}
