import { readFileSync } from 'node:fs';
import {
  nameScript,
  runKeylessScript,
  runScript,
  type SampleConnection,
  type ScriptArgument,
  type ScriptConnection,
} from './connection.js';
import {
  decodeAcquire,
  decodeCheck,
  decodeLook,
  decodeRelease,
  decodeRenew,
  decodeSample,
} from './decode.js';
import { packNames } from './looked-keys.js';
import type {
  AcquireReply,
  CheckReply,
  LookReply,
  ReleaseReply,
  RenewReply,
  SampleReply,
} from './replies.js';
import {
  argvOfAll,
  composeTogether,
  decodeTogether,
  keysOfAll,
  type TogetherCall,
  type TogetherReply,
} from './together.js';

/** Which lock, and by whom. */
export interface LockArgs {
  /** Name of the lock key as sent: without the connection's `keyPrefix`. */
  key: string | Buffer;
  /** Name of the fence key as sent, from `fenceKey()`; `null`: without fencing. */
  fenceKey: string | Buffer | null;
  /** The owner token of this hold. Never empty, never shared, never reused. */
  token: string;
}

export interface AcquireArgs extends LockArgs {
  /** How long Redis is asked to keep the lock: an integer, 1 to 86,400,000 ms. */
  leaseMs: number;
  /** How long the fence key outlives the grant: an integer, 1 to 31,622,400,000 ms (366 days). Not used without a fence key. */
  fenceTtlMs: number;
}

export interface RenewArgs extends LockArgs {
  /** New remaining life, from now: an integer, 1 to 86,400,000 ms. */
  leaseMs: number;
}

export interface SampleArgs {
  /** Where to go on; `'0'` to start. */
  cursor: string;
  /** Pattern of SCAN MATCH, special characters escaped. */
  pattern: string | Buffer;
  /** SCAN COUNT: how many slots of the table to look at, at least 1. */
  count: number;
  /** Whether to digest the values of strings. */
  withOwners: boolean;
  /** Longer values are not read beyond this, and have no owner. 0 to 1,048,576 bytes. */
  maxValueBytes: number;
  /** Keys that begin with none of these are not looked at. Empty: the pattern alone decides. */
  prefixes: readonly Buffer[];
}

export interface LookArgs {
  /** Longer values are not read beyond this, and have no owner. 0 to 1,048,576 bytes. */
  maxValueBytes: number;
  /** Names as stored. */
  keys: readonly Buffer[];
}

/**
 * The lock scripts. Each call is one round trip (two when the server does not know the script yet).
 *
 * All of them reject with what the connection rejects with, unchanged; with RedisLockError `bad_reply` when the
 * answer is none of the script's; and with RedisLockError `invalid_option` when the script refused an argument.
 */
export interface LockScripts {
  /** Takes the lock if it is free. Never touches a lock that another holds. */
  acquire(connection: ScriptConnection, args: AcquireArgs): Promise<AcquireReply>;
  /** Sets the remaining life of the own lock. Never re-creates a key. */
  renew(connection: ScriptConnection, args: RenewArgs): Promise<RenewReply>;
  /** Deletes the own lock; never another's. */
  release(connection: ScriptConnection, args: LockArgs): Promise<ReleaseReply>;
  /** Looks whether the lock is the own one. Writes nothing. */
  check(connection: ScriptConnection, args: LockArgs): Promise<CheckReply>;
  /**
   * Carries out several acquires and releases in their order, as one command: all keys must be on one server, and of
   * one slot where the server is part of a cluster. Optional: without it each call is a command of its own.
   */
  together?(connection: ScriptConnection, calls: readonly TogetherCall[]): Promise<TogetherReply[]>;
  /** One SCAN step with a look at each key found. Writes nothing. Of a cluster, it sees the one node it is sent to. */
  sample(connection: SampleConnection, args: SampleArgs): Promise<SampleReply>;
}

/** All scripts there are: clients need not have the last one. */
export interface LoadedScripts extends LockScripts {
  /**
   * A look at keys by name, all in one moment. Writes nothing. Of a cluster, it knows the keys of the one node that it
   * is sent to.
   */
  look(connection: SampleConnection, args: LookArgs): Promise<LookReply>;
}

/**
 * Reads the scripts from the files beside this one. Blocks for six small reads: call it once, at start.
 * @throws the file system's error when a script file is missing
 */
export function loadLockScripts(): LoadedScripts {
  const acquire = loadScript('acquire');
  const renew = loadScript('renew');
  const release = loadScript('release');
  const check = loadScript('check');
  const sample = loadScript('sample');
  const look = loadScript('look');
  const together = composeTogether(acquire.source, release.source);
  return {
    acquire: (connection, args) =>
      runScript(connection, acquire, keysOf(args), acquireArgv(args), decodeAcquire),
    renew: (connection, args) => runScript(connection, renew, keysOf(args), renewArgv(args), decodeRenew),
    release: (connection, args) =>
      runScript(connection, release, keysOf(args), releaseArgv(args), decodeRelease),
    check: (connection, args) => runScript(connection, check, keysOf(args), checkArgv(args), decodeCheck),
    together: (connection, calls) =>
      runScript(connection, together, keysOfAll(calls), argvOfAll(calls), (reply) =>
        decodeTogether(calls, reply),
      ),
    sample: (connection, args) => runKeylessScript(connection, sample, sampleArgv(args), decodeSample),
    look: (connection, args) =>
      runKeylessScript(connection, look, lookArgv(args), (reply) => decodeLook(reply, args.keys.length)),
  };
}

function loadScript(name: string) {
  return nameScript(readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8'));
}

/** KEYS of every script but sample and look: lock [, fence]. */
export function keysOf(args: LockArgs): (string | Buffer)[] {
  return args.fenceKey === null ? [args.key] : [args.key, args.fenceKey];
}

/** ARGV of acquire.lua. */
export function acquireArgv(args: AcquireArgs): ScriptArgument[] {
  return [args.token, args.leaseMs, args.fenceTtlMs];
}

/** ARGV of renew.lua. */
export function renewArgv(args: RenewArgs): ScriptArgument[] {
  return [args.token, args.leaseMs];
}

/** ARGV of release.lua. */
export function releaseArgv(args: LockArgs): ScriptArgument[] {
  return [args.token];
}

/** ARGV of check.lua. */
export function checkArgv(args: LockArgs): ScriptArgument[] {
  return [args.token];
}

/** ARGV of sample.lua. */
export function sampleArgv(args: SampleArgs): ScriptArgument[] {
  const { cursor, pattern, count, withOwners, maxValueBytes, prefixes } = args;
  return [cursor, pattern, count, withOwners ? 1 : 0, maxValueBytes, joinPrefixes(prefixes)];
}

/** ARGV of look.lua. */
export function lookArgv({ maxValueBytes, keys }: LookArgs): ScriptArgument[] {
  return [maxValueBytes, packNames(keys)];
}

/** Each with its length before it, so that a prefix may hold any byte. */
function joinPrefixes(prefixes: readonly Buffer[]): Buffer {
  return Buffer.concat(prefixes.flatMap((prefix) => [Buffer.from(`${prefix.length}:`), prefix]));
}
