import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from '../../contract/batch.js';

/** Why a connection is ended on which no request could be read. */
export type ConnectionRefusal =
  | 'headers_too_large'
  | 'request_timeout'
  | 'bad_request'
  | 'method_not_allowed';

/**
 * Ends a connection on which no request could be read: broken HTTP, headers too large, or too slow. Says so in
 * JSON, unless an answer has begun there already or the client is gone.
 * @returns what was said; undefined when nothing was
 */
export function refuseConnection(
  error: Error,
  socket: Duplex,
  answer: ServerResponse | undefined,
): ConnectionRefusal | undefined {
  const begun = answer?.headersSent === true && !answer.writableFinished;
  if (begun || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  return endWith(socket, describeError(error));
}

/** Ends a connection that asks to be a tunnel (CONNECT): nothing is passed on here. */
export function refuseTunnel(socket: Duplex): ConnectionRefusal {
  const message = 'CONNECT is not taken here: this is no proxy';
  return endWith(socket, ['405 Method Not Allowed', refusal('method_not_allowed', message)]);
}

type ToldRefusal = [status: string, refusal: { error: { id: ConnectionRefusal; message: string } }];

function endWith(socket: Duplex, [status, told]: ToldRefusal): ConnectionRefusal {
  const body = `${JSON.stringify(told)}\n`;
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  return told.error.id;
}

function describeError(error: Error): ToldRefusal {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        refusal('headers_too_large', 'The headers are too large'),
      ];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [
        '408 Request Timeout',
        refusal('request_timeout', 'The request did not come to its end in time'),
      ];
    default:
      return ['400 Bad Request', refusal('bad_request', 'This is not an HTTP/1.1 request')];
  }
}

function refusal(id: ConnectionRefusal, message: string) {
  return { error: { id, message } } satisfies Refusal;
}
