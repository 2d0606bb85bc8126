import type { ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { refuseConnection } from '../../../../exporter/http/refuse-connection.js';

/** A socket that keeps what is written to it. */
class Socket extends Duplex {
  text = '';

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const timeout = Object.assign(new Error('timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
const answerThat = (state: { headersSent: boolean; writableFinished: boolean }) => state as ServerResponse;

/** What a refused client reads before its connection is closed. */
async function refuse(error: Error, answer?: ServerResponse): Promise<string> {
  const socket = new Socket();
  const closed = new Promise((resolve) => socket.once('close', resolve));
  refuseConnection(error, socket, answer);
  await closed;
  return socket.text;
}

describe('a connection on which no request comes to its end', () => {
  it('too slow: 408, in JSON', async () => {
    expect(await refuse(timeout)).toMatch(/^HTTP\/1.1 408 [\s\S]*"id":"request_timeout"/);
  });

  it('after an answer that went out whole: refused like a fresh one', async () => {
    const answer = answerThat({ headersSent: true, writableFinished: true });
    expect(await refuse(timeout, answer)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('while its answer goes out: nothing is written into that', async () => {
    expect(await refuse(timeout, answerThat({ headersSent: true, writableFinished: false }))).toBe('');
  });
});
