import { bad, good, type Reading } from './reading.js';
import { MASK, Secret } from './secret.js';

/** Host name or IP address, and port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** How to find the server or servers. */
export type RedisAddress =
  | ({ readonly kind: 'tcp'; readonly tls: boolean } & HostPort)
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'sentinel';
      /** The Sentinels. */
      readonly hosts: readonly HostPort[];
      /** The name under which they watch the master. */
      readonly master: string;
      /** To Sentinels and servers. */
      readonly tls: boolean;
    }
  | {
      readonly kind: 'cluster';
      /** Some of its nodes; they know the others. */
      readonly hosts: readonly HostPort[];
      readonly tls: boolean;
    };

/** One Redis deployment and database, as a URL names it. */
export interface RedisTarget {
  readonly address: RedisAddress;
  /** Number of the database, from 0. */
  readonly db: number;
  readonly user: string | undefined;
  readonly password: Secret | undefined;
}

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26_379;
/** Redis itself has no limit; a number above this is a typing error. */
const MAX_DB = 99_999;
/** More are a typing error: one that answers is enough. */
const MAX_HOSTS = 100;
/** The forms of the URL, for help and faults. */
export const REDIS_URL_FORMS =
  'redis://[user[:password]@]host[:port][/db], redis+sentinel://[…@]host[:port],…/master[/db], ' +
  'redis+cluster://[…@]host[:port],…, each with rediss for TLS; or unix:/path[?db=n]';
const ENCODE =
  'must be percent-encoded where user or password hold a character such as @ : / # % (@ is %40); ' +
  'or hand the password over with --redis-password-file';

/**
 * Reads the URL of a Redis deployment. Faults never repeat the URL, which may hold a password. User and password
 * are percent-decoded.
 */
export function readRedisUrl(text: string): Reading<RedisTarget> {
  if (text.startsWith('unix:')) return readSocketUrl(text.slice('unix:'.length));
  if (/^rediss?\+(sentinel|cluster):\/\//i.test(text)) return readListUrl(text);
  if (!/^rediss?:\/\//i.test(text)) return bad(`must be ${REDIS_URL_FORMS}`);
  // A comma of the password comes before the last "@".
  if (text.slice(text.lastIndexOf('@') + 1).includes(',')) {
    return bad('names several hosts: begin it with redis+sentinel:// or redis+cluster://');
  }
  const url = parseUrl(text);
  return url === undefined ? bad(ENCODE) : readServerUrl(url);
}

/** The target as a URL without its password. */
export function writeRedisTarget(target: RedisTarget): string {
  const { address, db, user, password } = target;
  const login = password === undefined ? '' : `:${MASK}`;
  const who = user === undefined && login === '' ? '' : `${encodeURIComponent(user ?? '')}${login}@`;
  switch (address.kind) {
    case 'unix':
      return `unix:${address.path}?db=${db}`;
    case 'tcp':
      return `${scheme(address.tls)}://${who}${writeHost(address)}/${db}`;
    case 'sentinel': {
      const hosts = address.hosts.map(writeHost).join(',');
      return `${scheme(address.tls)}+sentinel://${who}${hosts}/${encodeURIComponent(address.master)}/${db}`;
    }
    case 'cluster':
      return `${scheme(address.tls)}+cluster://${who}${address.hosts.map(writeHost).join(',')}`;
    default:
      return address satisfies never;
  }
}

/** Where it is, without user, password and database: `host:port`, several with commas, or the path of the socket. */
export function writeRedisPlace({ address }: RedisTarget): string {
  switch (address.kind) {
    case 'unix':
      return `unix:${address.path}`;
    case 'tcp':
      return writeHost(address);
    case 'sentinel':
      return `${address.master} of ${address.hosts.map(writeHost).join(',')}`;
    case 'cluster':
      return address.hosts.map(writeHost).join(',');
    default:
      return address satisfies never;
  }
}

function scheme(tls: boolean): string {
  return tls ? 'rediss' : 'redis';
}

function writeHost({ host, port }: HostPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** `scheme+sentinel://[user[:password]@]host[:port],…/master[/db]` and `scheme+cluster://…`; no URL class reads a list of hosts. */
function readListUrl(text: string): Reading<RedisTarget> {
  const parts = /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^@?#]*))?$/i.exec(text);
  if (parts === null) return bad(ENCODE);
  const [, protocol = '', kind = '', login = '', list = '', path = ''] = parts;
  const tls = protocol.toLowerCase() === 'rediss';
  const isSentinel = kind.toLowerCase() === 'sentinel';
  const who = readLogin(login);
  const hosts = list
    .split(',')
    .map((host) => readHost(host, isSentinel ? DEFAULT_SENTINEL_PORT : DEFAULT_PORT));
  const known = hosts.filter((host) => host !== undefined);
  if (who === undefined) return bad(ENCODE);
  if (known.length < hosts.length || known.length > MAX_HOSTS) {
    return bad(`must have 1 to ${MAX_HOSTS} hosts with commas between them: ${REDIS_URL_FORMS}`);
  }
  return isSentinel ? readSentinelPath(path, known, tls, who) : readClusterPath(path, known, tls, who);
}

type Login = Pick<RedisTarget, 'user' | 'password'>;

function readSentinelPath(path: string, hosts: HostPort[], tls: boolean, login: Login): Reading<RedisTarget> {
  const [name = '', digits = '', ...more] = path.split('/');
  const master = decode(name);
  if (master === undefined || master === '' || more.length > 0) {
    return bad(
      'must have the name of the master after the Sentinels: redis+sentinel://host:port,host:port/master',
    );
  }
  const db = readDb(digits);
  if (db === undefined) return bad(faultOf(db));
  return good({ address: { kind: 'sentinel', hosts, master, tls }, db, ...login });
}

function readClusterPath(path: string, hosts: HostPort[], tls: boolean, login: Login): Reading<RedisTarget> {
  if (path !== '' && path !== '0') return bad('must end after the hosts: a cluster has database 0 only');
  return good({ address: { kind: 'cluster', hosts, tls }, db: 0, ...login });
}

function readHost(text: string, defaultPort: number): HostPort | undefined {
  const [, literal, name, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = literal ?? name;
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

function readLogin(text: string): Login | undefined {
  const colon = text.indexOf(':');
  const user = decode(colon < 0 ? text : text.slice(0, colon));
  const password = decode(colon < 0 ? '' : text.slice(colon + 1));
  if (user === undefined || password === undefined) return undefined;
  return loginOf(user, password);
}

function loginOf(user: string, password: string): Login {
  return {
    user: user === '' ? undefined : user,
    password: password === '' ? undefined : new Secret(password),
  };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function readServerUrl(url: URL): Reading<RedisTarget> {
  if (url.hash !== '') return bad(ENCODE);
  if (url.search !== '') return bad(`must have no "?" part: ${REDIS_URL_FORMS}`);
  if (url.hostname === '') return bad(`has no host: ${REDIS_URL_FORMS}`);
  const db = readDb(url.pathname.replace(/^\//, ''));
  const user = decode(url.username);
  const password = decode(url.password);
  if (user === undefined || password === undefined || db === undefined) return bad(faultOf(db));
  return good({
    address: {
      kind: 'tcp',
      // The WHATWG URL keeps the brackets of an IPv6 address; a socket must not.
      host: decode(url.hostname.replace(/^\[|\]$/g, '')) ?? url.hostname,
      port: url.port === '' ? DEFAULT_PORT : Number(url.port),
      tls: url.protocol === 'rediss:',
    },
    db,
    ...loginOf(user, password),
  });
}

function faultOf(db: number | undefined): string {
  return db === undefined ? `must end in the number of a database, 0 to ${MAX_DB}; or it ${ENCODE}` : ENCODE;
}

function readSocketUrl(rest: string): Reading<RedisTarget> {
  const [path = '', query, ...more] = rest.replace(/^\/\/\//, '/').split('?');
  if (!path.startsWith('/') || more.length > 0) return bad(`must be ${REDIS_URL_FORMS}`);
  const [, digits = ''] = /^db=(\d+)$/.exec(query ?? 'db=0') ?? [];
  const db = digits === '' ? undefined : readDb(digits);
  if (db === undefined) return bad(`must have ?db= with the number of a database, 0 to ${MAX_DB}, or no "?"`);
  return good({ address: { kind: 'unix', path }, db, user: undefined, password: undefined });
}

function readDb(text: string): number | undefined {
  if (text === '') return 0;
  return /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
