import { bad, good, type Reading } from './reading.js';
import { MASK, Secret } from './secret.js';

/** One Redis server and database, as a URL names it. */
export interface RedisTarget {
  readonly address:
    | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: boolean }
    | { readonly kind: 'unix'; readonly path: string };
  /** Number of the database, from 0. */
  readonly db: number;
  readonly user: string | undefined;
  readonly password: Secret | undefined;
}

const DEFAULT_PORT = 6379;
/** Redis itself has no limit; a number above this is a typing error. */
const MAX_DB = 99_999;
const FORMS = 'redis://[user[:password]@]host[:port][/db], rediss://… for TLS, or unix:/path[?db=n]';
const ENCODE =
  'must be percent-encoded where user or password hold a character such as @ : / # % (@ is %40); ' +
  'or hand the password over with --redis-password-file';
const LATER = /^(redis|rediss)?[+-]?(sentinel|cluster)s?:/i;

/**
 * Reads the URL of a Redis server. Faults never repeat the URL, which may hold a password. User and password are
 * percent-decoded.
 */
export function readRedisUrl(text: string): Reading<RedisTarget> {
  if (LATER.test(text)) return notYet();
  if (text.startsWith('unix:')) return readSocketUrl(text.slice('unix:'.length));
  if (!/^rediss?:\/\//i.test(text)) return bad(`must be ${FORMS}`);
  // More than one host, as Sentinel and Cluster lists have them; a comma of the password comes before the last "@".
  if (text.slice(text.lastIndexOf('@') + 1).includes(',')) return notYet();
  const url = parseUrl(text);
  return url === undefined ? bad(ENCODE) : readServerUrl(url);
}

/** The target as a URL without its password. */
export function writeRedisTarget(target: RedisTarget): string {
  const { address, db, user, password } = target;
  if (address.kind === 'unix') return `unix:${address.path}?db=${db}`;
  const login = password === undefined ? '' : `:${MASK}`;
  const who = user === undefined && login === '' ? '' : `${encodeURIComponent(user ?? '')}${login}@`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${address.tls ? 'rediss' : 'redis'}://${who}${host}:${address.port}/${db}`;
}

function notYet(): Reading<never> {
  return bad('names a Sentinel or Cluster deployment, which is not in this version: name one server');
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function readServerUrl(url: URL): Reading<RedisTarget> {
  if (url.hash !== '') return bad(ENCODE);
  if (url.search !== '') return bad(`must have no "?" part: ${FORMS}`);
  if (url.hostname === '') return bad(`has no host: ${FORMS}`);
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
    user: user === '' ? undefined : user,
    password: password === '' ? undefined : new Secret(password),
  });
}

function faultOf(db: number | undefined): string {
  return db === undefined ? `must end in the number of a database, 0 to ${MAX_DB}; or it ${ENCODE}` : ENCODE;
}

function readSocketUrl(rest: string): Reading<RedisTarget> {
  const [path = '', query, ...more] = rest.replace(/^\/\/\//, '/').split('?');
  if (!path.startsWith('/') || more.length > 0) return bad(`must be ${FORMS}`);
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
