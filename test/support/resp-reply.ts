/** Bytes of a reply, exactly as they go over the wire. */
export interface WireReply {
  wire: Buffer;
  /** Close the connection after these bytes. */
  close: boolean;
}

/** What a stub may answer: text and Buffers become bulk strings, numbers integers, null a nil. */
export type RespReply = string | number | null | Buffer | WireReply | readonly RespReply[];

/** A status reply such as `OK`. */
export function status(text: string): WireReply {
  return raw(`+${text}\r\n`);
}

/** An error reply; the text starts with its code: `LOADING Redis is loading …`. */
export function errorReply(text: string): WireReply {
  return raw(`-${text}\r\n`);
}

/** These bytes and nothing else, also when they are no RESP at all. */
export function raw(bytes: string | Buffer): WireReply {
  return { wire: Buffer.from(bytes as string), close: false };
}

/** No answer, ever: the client waits. */
export function silence(): WireReply {
  return raw('');
}

/** Closes the connection, after the bytes of `reply` if there is one. */
export function hangUp(reply: WireReply = silence()): WireReply {
  return { wire: reply.wire, close: true };
}

/** The bytes of a reply. */
export function encodeReply(reply: RespReply): WireReply {
  if (reply === null) return raw('$-1\r\n');
  if (typeof reply === 'number') return raw(`:${reply}\r\n`);
  if (typeof reply === 'string' || Buffer.isBuffer(reply)) return bulk(Buffer.from(reply as string));
  if ('wire' in reply) return reply;
  const parts = reply.map((part) => encodeReply(part).wire);
  return raw(Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...parts]));
}

function bulk(data: Buffer): WireReply {
  return raw(Buffer.concat([Buffer.from(`$${data.length}\r\n`), data, Buffer.from('\r\n')]));
}

/** Integer replies of PTTL with a meaning of their own. */
export const PTTL_NO_KEY = -2;
/** See {@link PTTL_NO_KEY}. */
export const PTTL_NO_EXPIRY = -1;

/** Error replies in the words of Redis 7.0. */
export const redisErrors = {
  loading: () => errorReply('LOADING Redis is loading the dataset in memory'),
  moved: (slot: number, host: string, port: number) => errorReply(`MOVED ${slot} ${host}:${port}`),
  ask: (slot: number, host: string, port: number) => errorReply(`ASK ${slot} ${host}:${port}`),
  clusterDown: () => errorReply('CLUSTERDOWN The cluster is down'),
  crossSlot: () => errorReply("CROSSSLOT Keys in request don't hash to the same slot"),
  tryAgain: () => errorReply('TRYAGAIN Multiple keys request during rehashing of slot'),
  noPerm: (command: string) =>
    errorReply(`NOPERM this user has no permissions to run the '${command}' command`),
  noAuth: () => errorReply('NOAUTH Authentication required.'),
  wrongPass: () => errorReply('WRONGPASS invalid username-password pair or user is disabled.'),
  readOnly: () => errorReply("READONLY You can't write against a read only replica."),
  misconf: () =>
    errorReply(
      'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk. ' +
        'Commands that may modify the data set are disabled.',
    ),
  oom: () => errorReply("OOM command not allowed when used memory > 'maxmemory'."),
  busy: () =>
    errorReply('BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.'),
  noScript: () => errorReply('NOSCRIPT No matching script. Please use EVAL.'),
  wrongType: () => errorReply('WRONGTYPE Operation against a key holding the wrong kind of value'),
  /** Redis says this to a new connection and closes it: use it as the `greeting` of a stub. */
  maxClients: () => hangUp(errorReply('ERR max number of clients reached')),
} as const;
