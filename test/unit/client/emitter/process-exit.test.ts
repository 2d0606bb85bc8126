import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelStats } from '../../../../client/emitter/event-tally.js';
import { freePort } from '../../../support/free-port.js';
import { spawnChild } from '../../../support/processes.js';
import { makeTempDir, type TempDir } from '../../../support/temp-dir.js';
import { within } from '../../../support/wait-for.js';
import { expectBalanced, numbersOf, range } from './test-events.js';
import { TestExporter } from './test-exporter.js';

/** Ample for a start of Node on a busy machine, and far below what the child would wait for an answer. */
const EXIT_LIMIT_MS = 20_000;

let folder: TempDir;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = makeTempDir('emitter-exit');
  const input = fileURLToPath(new URL('exit-child.ts', import.meta.url));
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: folder.path,
      emptyOutDir: false,
      rolldownOptions: { input, output: { entryFileNames: 'child.mjs' } },
    },
  });
});

afterAll(() => folder.remove());

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function runChild(
  url: string,
  events: number,
  exitFlushMs = 500,
): Promise<ChannelStats & { rss: number }> {
  const child = await spawnChild(process.execPath, {
    args: [`${folder.path}/child.mjs`, url, String(events), String(exitFlushMs)],
  });
  const exit = await within(child.exited, EXIT_LIMIT_MS, 'the child to exit');
  expect(child.stderr.text()).toBe('');
  expect(exit).toEqual({ code: 0, signal: null });
  const stats = JSON.parse(child.stdout.text());
  expectBalanced(stats);
  return stats;
}

async function startExporter(): Promise<TestExporter> {
  const exporter = await new TestExporter().start();
  cleanUps.push(() => exporter.stop());
  return exporter;
}

/** A server that accepts and reads nothing: the kernel's buffers are all that a client gets rid of. */
async function startDeafServer(): Promise<string> {
  const server: Server = createServer((socket) => {
    cleanUps.push(async () => socket.destroy());
    socket.on('error', () => {});
    socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
}

describe('a process that holds a lock and ends without closing its client', () => {
  it('delivers what is left, and is not kept alive by the idle connection or the heartbeat', async () => {
    const exporter = await startExporter();
    // Longer than by default: on a busy machine the first post may take a while.
    const stats = await runChild(exporter.url, 1700, 10_000);
    expect(stats).toMatchObject({ emitted: 1700, accepted: 1700, queued: 0 });
    expect(numbersOf(exporter.accepted)).toEqual(range(1700));
  });

  it.each(['refuses connections', 'is silent', 'reads nothing', 'answers 500'])(
    'ends soon, within bounded memory, after 200,000 events to an exporter that %s',
    async (mode) => {
      let url = `http://127.0.0.1:${await freePort()}`;
      if (mode === 'reads nothing') url = await startDeafServer();
      if (mode === 'is silent' || mode === 'answers 500') {
        const exporter = await startExporter();
        const silent = mode === 'is silent';
        exporter.misbehave = () => (silent ? { kind: 'silence' } : { kind: 'answer', status: 500 });
        url = exporter.url;
      }
      const stats = await runChild(url, 200_000);
      expect(stats).toMatchObject({ emitted: 200_000, accepted: 0 });
      expect(stats.queued).toBeLessThanOrEqual(10_500);
      expect(stats.rss).toBeLessThan(200 * 1024 * 1024);
    },
  );
});
