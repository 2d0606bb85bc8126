import { DEFAULT_INGEST_ADDRESS, EVENTS_PATH } from '../../contract/batch.js';
import { RedisLockError } from '../../contract/errors.js';

const UNIX_PREFIX = 'unix:';

/** Where batches are posted, in the terms of `node:http`. */
export interface IngestAddress {
  /** For people. Never holds a secret. */
  readonly text: string;
  readonly secure: boolean;
  readonly path: string;
  readonly target:
    | { readonly hostname: string; readonly port: number | undefined }
    | { readonly socketPath: string };
}

/**
 * Reads the address of the exporter: `http://host:port`, `https://…`, `host:port`, `unix:/path`, or a socket
 * path apart. A path in the URL goes before the contract's. Default: `127.0.0.1:9723`, the exporter's default.
 *
 * @throws RedisLockError `invalid_option`; the message does not repeat the value, which may hold a password
 */
export function parseIngestAddress(url: string | undefined, socketPath: string | undefined): IngestAddress {
  if (url !== undefined && socketPath !== undefined) throw badUrl('url and socketPath exclude each other');
  if (socketPath !== undefined) return unixAddress(socketPath);
  const given = url ?? DEFAULT_INGEST_ADDRESS;
  if (given.startsWith(UNIX_PREFIX)) return unixAddress(given.slice(UNIX_PREFIX.length));
  return httpAddress(given.includes('://') ? given : `http://${given}`);
}

function unixAddress(socketPath: string): IngestAddress {
  if (!socketPath.startsWith('/')) throw badUrl('socketPath must be an absolute path');
  const text = `${UNIX_PREFIX}${socketPath}`;
  return { text, secure: false, path: EVENTS_PATH, target: { socketPath } };
}

function httpAddress(text: string): IngestAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw badUrl('url must be http://host:port, https://host:port or unix:/path');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw badUrl(
      'url must hold no user, password, query or fragment (the exporter’s secret belongs in token)',
    );
  }
  const base = url.pathname.replace(/\/+$/, '');
  return {
    text: `${url.origin}${base}`,
    secure: url.protocol === 'https:',
    path: `${base}${EVENTS_PATH}`,
    // The brackets of an IPv6 literal belong to URLs; the resolver takes them for part of a name.
    target: {
      hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? undefined : Number(url.port),
    },
  };
}

function badUrl(fault: string): RedisLockError {
  return new RedisLockError('invalid_option', `The address of the exporter cannot be used: ${fault}`);
}
