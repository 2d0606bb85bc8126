import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { Part } from './part.js';

/** Another process may take the free port in the meantime. */
const ATTEMPTS = 5;

/** A redis-server on a free port of 127.0.0.1 that stores nothing. */
export interface PrivateRedis {
  url: string;
  part: Part;
}

/** @throws Error when redis-server cannot be started, with what it said last. */
export async function startPrivateRedis(): Promise<PrivateRedis> {
  let said = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = await freePort();
    const lines: string[] = [];
    const { part, ready } = launch(port, lines);
    if (await ready) return { url: `redis://127.0.0.1:${port}`, part };
    said = lines.at(-1) ?? (await part.ended);
  }
  throw new Error(`redis-server did not start: ${said}`);
}

function launch(port: number, lines: string[]): { part: Part; ready: Promise<boolean> } {
  let onReady: (ready: boolean) => void = () => {};
  const ready = new Promise<boolean>((resolve) => {
    onReady = resolve;
  });
  const args = [
    '--bind',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    tmpdir(),
    // Its own title would overwrite the command line and the environment by which the process is known.
    '--set-proc-title',
    'no',
  ];
  const onLine = (line: string) => {
    if (lines.push(line) > 20) lines.shift();
    if (line.includes('Ready to accept connections')) onReady(true);
  };
  const part = new Part({ name: 'redis-server', program: 'redis-server', args, onLine });
  void part.ended.then(() => onReady(false));
  return { part, ready };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
