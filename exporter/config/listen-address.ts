import { isIP, isIPv6 } from 'node:net';
import type { ListenAddress } from '../../contract/listen-address.js';
import { bad, good, type Reading } from './reading.js';

/** Longest path of a unix socket in bytes: Linux keeps 108 with the closing zero byte. */
const MAX_SOCKET_PATH_BYTES = 107;
const HOST_NAME = /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/** Reads `host:port`, `[IPv6]:port` or `unix:/path`. */
export function readListenAddress(text: string): Reading<ListenAddress> {
  if (text.startsWith('unix:')) return readSocketPath(text.slice('unix:'.length));
  return readTcpAddress(text);
}

/** Reads `host:port` or `[IPv6]:port`; a unix socket is refused, because Prometheus cannot scrape one. */
export function readTcpAddress(text: string): Reading<ListenAddress & { kind: 'tcp' }> {
  const [, literal, name, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = literal ?? name;
  if (host === undefined) return bad('must be host:port, such as 127.0.0.1:9723 or [::1]:9723');
  if (literal !== undefined && !isIPv6(literal)) return bad('has no IPv6 address between [ and ]');
  if (name !== undefined && !isHostName(name)) return bad('has no IP address or host name before the port');
  const port = Number(digits);
  if (port > 65_535) return bad('has a port above 65535');
  return good({ kind: 'tcp', host, port });
}

/** Whether only this machine can reach the address. A host name other than `localhost` counts as reachable. */
export function isLocalOnly(address: ListenAddress): boolean {
  if (address.kind === 'unix') return true;
  return /^127\./.test(address.host) || address.host === '::1' || address.host === 'localhost';
}

/** Whether two listeners would take each other's port: on one address, or where one of them takes all addresses. */
export function isSamePlace(one: ListenAddress, other: ListenAddress): boolean {
  if (one.kind === 'unix' || other.kind === 'unix') return false;
  const hosts = [one, other].map(({ host }) => (host === 'localhost' ? '127.0.0.1' : host));
  const overlap = hosts[0] === hosts[1] || hosts.some((host) => host === '0.0.0.0' || host === '::');
  return overlap && one.port !== 0 && one.port === other.port;
}

function readSocketPath(path: string): Reading<ListenAddress> {
  if (!path.startsWith('/') || path.endsWith('/'))
    return bad('must name a file by its full path: unix:/path');
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    return bad(`has a socket path of more than ${MAX_SOCKET_PATH_BYTES} bytes; choose a shorter one`);
  }
  if (path.includes('\0')) return bad('must not hold a zero byte');
  return good({ kind: 'unix', path });
}

/** All digits and dots must be an address: `127.0.0.300` is a typing error, not a name to look up. */
function isHostName(name: string): boolean {
  return isIP(name) !== 0 || (HOST_NAME.test(name) && !/^[\d.]+$/.test(name));
}
