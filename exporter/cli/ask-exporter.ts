import { request } from 'node:http';
import type { AskExporter } from './timeline-command.js';

const TIMEOUT_MS = 5000;

/** Asks over HTTP, through a TCP port or a unix socket. */
export const askExporter: AskExporter = ({ address, path, body, token }) => {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers: Record<string, string> = {
    ...(text === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  const socketPath = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
  const base = socketPath === undefined ? `http://${address.replace(/^http:\/\//, '')}` : 'http://localhost';
  return new Promise((resolve, reject) => {
    const options = {
      method: text === undefined ? 'GET' : 'POST',
      headers,
      agent: false,
      ...(socketPath && { socketPath }),
    };
    const sent = request(new URL(path, base), options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
    sent.once('error', reject);
    sent.end(text);
  });
};
