import { createServer } from 'node:net';

/**
 * A TCP port on 127.0.0.1 that nobody listened on a moment ago. Another process may take it before the caller
 * does, so whoever binds it must be ready to ask again.
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
