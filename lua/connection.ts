import { createHash } from 'node:crypto';

/** What a script takes as an argument. */
export type ScriptArgument = string | Buffer | number;

/**
 * What the lock scripts need of a connection. ioredis's `Redis` and `Cluster` (5 and later) have it, as does any
 * other object of this shape.
 */
export interface ScriptConnection {
  evalsha(sha: string, numberOfKeys: number, ...keysAndArgs: ScriptArgument[]): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...keysAndArgs: ScriptArgument[]): Promise<unknown>;
}

/** What the scripts without keys need of a connection to one server: replies as Buffers, for names are bytes. */
export interface SampleConnection {
  callBuffer(command: string, ...args: ScriptArgument[]): Promise<unknown>;
}

/** The text of a script and the name under which Redis caches it. */
export interface Script {
  source: string;
  /** SHA-1 of the source in hex. */
  sha: string;
}

/** Names a script's text. */
export function nameScript(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/**
 * Runs a script by its name, and by its text where the server does not know it: after a restart, a failover or
 * SCRIPT FLUSH, and once on each node of a cluster. Other errors pass through unchanged. A script unknown to the
 * server did nothing, so the second send never repeats a write.
 *
 * One promise on top of the connection's: with one caller each more shows in the time of a lock.
 */
export function runScript<Reply>(
  connection: ScriptConnection,
  script: Script,
  keys: readonly (string | Buffer)[],
  args: readonly ScriptArgument[],
  decode: (reply: unknown) => Reply,
): Promise<Reply> {
  return connection.evalsha(script.sha, keys.length, ...keys, ...args).then(decode, (error: unknown) => {
    if (!isNoScript(error)) throw error;
    return connection.eval(script.source, keys.length, ...keys, ...args).then(decode);
  });
}

/** {@link runScript} for a script without keys, with replies as Buffers. */
export function runKeylessScript<Reply>(
  connection: SampleConnection,
  script: Script,
  args: readonly ScriptArgument[],
  decode: (reply: unknown) => Reply,
): Promise<Reply> {
  return connection.callBuffer('EVALSHA', script.sha, 0, ...args).then(decode, (error: unknown) => {
    if (!isNoScript(error)) throw error;
    return connection.callBuffer('EVAL', script.source, 0, ...args).then(decode);
  });
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
