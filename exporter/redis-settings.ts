import type { ConnectionOptions } from 'node:tls';
import type { Settings } from './config/settings.js';
import type { ConnectionSettings } from './sampler/connection.js';

type RedisConnectionSettings = Pick<ConnectionSettings, 'address' | 'db' | 'user' | 'readPassword' | 'tls'>;

/** Reads a file's text, or throws. */
export type ReadFile = (path: string) => string;

/** Turns the options about Redis into those of a connection. The CA file is read now, the password's at each connect. */
export function redisSettings(settings: Settings, readFile: ReadFile): RedisConnectionSettings {
  const { address, db, user } = settings.redisUrl;
  return {
    address,
    db,
    user: settings.redisUser ?? user,
    readPassword: passwordReader(settings, readFile),
    tls: tlsOf(settings, readFile),
  };
}

/** A file that cannot be read for a moment, as while it is replaced, leaves the last password in force. */
function passwordReader(settings: Settings, readFile: ReadFile): () => string | undefined {
  const { redisPasswordFile, redisPassword, redisUrl } = settings;
  if (redisPasswordFile === undefined) return () => (redisPassword ?? redisUrl.password)?.reveal();
  let last: string | undefined;
  return () => {
    try {
      last = dropLineEnd(readFile(redisPasswordFile));
    } catch {
      // Said by the connection itself, should the last one be refused.
    }
    return last;
  };
}

/** Drops one line end, which editors and `echo` add; any other space may belong to a secret. */
export function dropLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function tlsOf({ redisUrl, redisCa }: Settings, readFile: ReadFile): ConnectionOptions | undefined {
  if (redisUrl.address.kind !== 'tcp' || !redisUrl.address.tls) return undefined;
  return redisCa === undefined ? {} : { ca: readFile(redisCa) };
}
