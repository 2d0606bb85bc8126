import type { ConnectionOptions } from 'node:tls';
import type { Settings } from './config/settings.js';
import type { ConnectionSettings, HostPort, ServerAddress } from './sampler/connection.js';

/** How to log in, and how to encrypt: the same for each server of a deployment. */
export type RedisLogin = Pick<ConnectionSettings, 'db' | 'user' | 'readPassword' | 'tls'>;

/** Which servers there are to connect to. */
export type RedisServers =
  | { readonly kind: 'single'; readonly swept: ServerAddress; readonly master: ServerAddress }
  | { readonly kind: 'cluster'; readonly seeds: readonly HostPort[]; readonly sweepReplicas: boolean };

/** Reads a file's text, or throws. */
export type ReadFile = (path: string) => string;

/** Turns the options about Redis into a login. The CA file is read now, the password's at each connect. */
export function redisLogin(settings: Settings, readFile: ReadFile): RedisLogin {
  const { db, user } = settings.redisUrl;
  return {
    db,
    user: settings.redisUser ?? user,
    readPassword: passwordReader(settings, readFile),
    tls: tlsOf(settings, readFile),
  };
}

/** Turns the options about Redis into servers. `swept` and `master` are one object where they are one server. */
export function redisServers(settings: Settings, readFile: ReadFile): RedisServers {
  const { address } = settings.redisUrl;
  const fromReplica = settings.sampleFrom === 'replica';
  switch (address.kind) {
    case 'tcp':
    case 'unix':
      return { kind: 'single', swept: address, master: address };
    case 'cluster':
      return { kind: 'cluster', seeds: address.hosts, sweepReplicas: fromReplica };
    case 'sentinel': {
      const { hosts, master: name } = address;
      const readSentinelPassword = fileReader(settings.redisSentinelPasswordFile, readFile);
      const shared = { kind: 'sentinel', hosts, master: name, readSentinelPassword } as const;
      const master: ServerAddress = { ...shared, role: 'master' };
      return { kind: 'single', swept: fromReplica ? { ...shared, role: 'replica' } : master, master };
    }
    default:
      return address satisfies never;
  }
}

/** The file's, else the variable's, else the URL's. */
function passwordReader(settings: Settings, readFile: ReadFile): () => string | undefined {
  const { redisPasswordFile, redisPassword, redisUrl } = settings;
  if (redisPasswordFile === undefined) return () => (redisPassword ?? redisUrl.password)?.reveal();
  return fileReader(redisPasswordFile, readFile);
}

/** A file that cannot be read for a moment, as while it is replaced, leaves the last password in force. */
function fileReader(path: string | undefined, readFile: ReadFile): () => string | undefined {
  if (path === undefined) return () => undefined;
  let last: string | undefined;
  return () => {
    try {
      last = dropLineEnd(readFile(path));
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
  if (redisUrl.address.kind === 'unix' || !redisUrl.address.tls) return undefined;
  return redisCa === undefined ? {} : { ca: readFile(redisCa) };
}
