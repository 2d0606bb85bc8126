import { isIPv6 } from 'node:net';

/** Where a listener listens. Port 0 lets the system choose. */
export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** The address as people write it: `host:port`, `[IPv6]:port` or `unix:/path`. */
export function writeListenAddress(address: ListenAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  return `${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`;
}
