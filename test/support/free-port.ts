import { createServer } from 'node:net';

/**
 * A TCP port on 127.0.0.1 that nobody listened on a moment ago. Another process may take it before the caller
 * does, so whoever binds it must be ready to ask again: see {@link onFreePort}.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/**
 * Calls `launch` with a free port, and again with another one, up to five times in all, while it fails because
 * the address is in use.
 *
 * @throws what `launch` threw last.
 */
export async function onFreePort<T>(launch: (port: number) => Promise<T>): Promise<T> {
  for (let left = 5; ; left -= 1) {
    try {
      return await launch(await freePort());
    } catch (error) {
      if (left <= 1 || !/address already in use|EADDRINUSE/i.test(String(error))) throw error;
    }
  }
}
