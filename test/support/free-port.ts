import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that the system gives to whoever asks for any: a server that is started again must get its own back. */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const TRIES = 50;

/**
 * A TCP port on 127.0.0.1 that nobody listened on a moment ago. Another process may take it before the caller
 * does, so whoever binds it must be ready to ask again: see {@link onFreePort}.
 */
export async function freePort(): Promise<number> {
  for (let left = TRIES; left > 0; left -= 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await canListen(port)) return port;
  }
  throw new Error(`none of ${TRIES} ports was free`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
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
