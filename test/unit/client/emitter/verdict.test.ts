import { describe, expect, it } from 'vitest';
import { judge, quote } from '../../../../client/emitter/verdict.js';

const answer = { epoch: 'e', accepted: 1, rejected: [], duplicate: false };

function judgeStatus(status: number, text = '', retryAfter?: string) {
  return judge({ kind: 'answered', status, text, ...(retryAfter !== undefined && { retryAfter }) });
}

describe('judge', () => {
  it('takes the exporter’s answer', () => {
    expect(judgeStatus(200, JSON.stringify(answer))).toEqual({ kind: 'done', answer });
  });

  it.each([400, 402, 405, 409, 411, 413, 415, 422, 431])('takes %i as final', (status) => {
    expect(judgeStatus(status).kind).toBe('refused');
  });

  it.each([401, 403, 404])('takes %i as a fault of the set-up, which may heal', (status) => {
    expect(judgeStatus(status)).toMatchObject({ kind: 'retry', cause: 'configuration' });
  });

  it.each([0, 202, 204, 301, 302, 408, 429, 500, 502, 503, 504])('tries again after %i', (status) => {
    expect(judgeStatus(status)).toMatchObject({ kind: 'retry', cause: 'transient' });
  });

  it.each(['', 'OK', '<html>', '{}', '[]', 'null', '{"epoch":"e"}'])(
    'tries again after 200 with %j',
    (text) => {
      expect(judgeStatus(200, text)).toMatchObject({ kind: 'retry', cause: 'transient' });
    },
  );

  it('follows Retry-After in seconds and no other form', () => {
    expect(judgeStatus(503, '', '7')).toMatchObject({ retryAfterMs: 7000 });
    for (const header of ['-1', '1.5', 'Wed, 21 Oct 2037 07:28:00 GMT', '99999999999', 'soon']) {
      expect(judgeStatus(503, '', header)).toMatchObject({ retryAfterMs: 0 });
    }
  });

  it('quotes the exporter’s reason, and nothing of another server’s page', () => {
    const refusal = { error: { id: 'unreadable', message: 'the body is not JSON' } };
    expect(judgeStatus(400, JSON.stringify(refusal))).toMatchObject({
      text: 'answered 400 (unreadable: the body is not JSON)',
    });
    expect(judgeStatus(400, '<h1>Bad request</h1>')).toMatchObject({ text: 'answered 400' });
  });

  it('quotes on one short line', () => {
    expect(quote('a\n\u001b[31mb')).toBe('a [31mb');
    expect(quote('x'.repeat(1000))).toHaveLength(200);
  });
});
