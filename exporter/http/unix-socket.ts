import { lstat, stat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import type { Clock } from '../../contract/clock.js';

/** Longest path of a unix socket in bytes. The system cuts a longer one without a word. */
const MAX_PATH_BYTES = 107;
/** A server that does not even accept for that long is busy, not dead. */
const PROBE_MS = 1000;
/** Whoever may write to the socket may connect: owner and group, nobody else. */
const SOCKET_UMASK = 0o117;

/**
 * Makes a path free to listen at: a socket file that a killed process left behind is removed, once a connection
 * to it was refused. Never removes a file of another kind, or a socket that somebody serves. Two processes
 * that start at one path in the same instant may both find it dead; the later one then has it.
 *
 * @returns why the path cannot be used, or undefined
 */
export async function clearSocketPath(path: string, clock: Clock): Promise<string | undefined> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `the path has more than ${MAX_PATH_BYTES} bytes`;
  const folder = await stat(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory()) return `there is no folder ${dirname(path)}`;
  const before = await lstat(path).catch(() => undefined);
  if (!before) return undefined;
  if (!before.isSocket()) return 'there is a file at this path that is not a socket';
  if (!(await isDead(path, clock))) return 'another process listens there';
  const now = await lstat(path).catch(() => undefined);
  if (now && now.ino !== before.ino) return 'another process listens there';
  return unlink(path).then(nothing, (error: unknown) =>
    isCode(error, 'ENOENT') ? undefined : reasonOf(error),
  );
}

/** Runs a call that makes a socket file, with rights for owner and group only from its first moment. */
export function withSocketRights<T>(make: () => T): T {
  const before = process.umask(SOCKET_UMASK);
  try {
    return make();
  } finally {
    process.umask(before);
  }
}

/** Nobody serves the socket: a connection is refused. Any other answer, or none, counts as life. */
function isDead(path: string, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    const answer = (dead: boolean) => {
      timer.cancel();
      probe.destroy();
      resolve(dead);
    };
    const timer = clock.setTimer(() => answer(false), PROBE_MS);
    probe.once('connect', () => answer(false));
    probe.once('error', (error) => answer(isCode(error, 'ECONNREFUSED') || isCode(error, 'ENOENT')));
  });
}

function nothing(): undefined {
  return undefined;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function reasonOf(error: unknown): string {
  return `the old socket cannot be removed (${error instanceof Error ? error.message : 'unknown error'})`;
}
