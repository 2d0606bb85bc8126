import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { MAX_GATHERED, WriteBatch } from '../../../client/write-batch.js';

/** A socket that notes its corks, and how many writes it makes of what it is given. */
class CountingSocket {
  writable = true;
  corks = 0;
  writes = 0;
  #gathered = 0;

  cork(): void {
    this.corks += 1;
  }

  uncork(): void {
    this.corks -= 1;
    if (this.#gathered > 0) this.writes += 1;
    this.#gathered = 0;
  }

  write(): void {
    if (this.corks > 0) this.#gathered += 1;
    else this.writes += 1;
  }
}

function bench() {
  const stream = new CountingSocket();
  const batch = new WriteBatch({ status: 'ready', isCluster: false, stream } as unknown as Redis);
  const send = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      batch.begin();
      stream.write();
    }
  };
  return { stream, batch, send };
}

const turnEnd = () => new Promise<void>((resolve) => setImmediate(resolve));

test('the commands of one turn go in few writes, and the socket is left open', async () => {
  const { stream, send } = bench();
  send(64);
  await turnEnd();
  expect(stream.corks).toBe(0);
  expect(stream.writes).toBeLessThanOrEqual(Math.ceil(64 / MAX_GATHERED) + 1);
});

test('a lone caller is written at once, turn after turn', async () => {
  const { stream, batch, send } = bench();
  for (let round = 1; round <= 3; round += 1) {
    send(1);
    expect(stream).toMatchObject({ corks: 0, writes: round });
    await turnEnd();
    batch.end();
  }
});

test('a long turn is not held back as a whole', () => {
  const { stream, send } = bench();
  send(3 * MAX_GATHERED);
  expect(stream.writes).toBeGreaterThanOrEqual(2);
});

test('a connection without one socket, such as a Cluster, is left alone', () => {
  const batch = new WriteBatch({ status: 'ready', isCluster: true } as unknown as Redis);
  batch.begin();
  batch.begin();
  batch.end();
});
