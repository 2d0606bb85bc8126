import { expect, it } from 'vitest';
import { readLocksQuery } from '../../../exporter/locks-query.js';

const read = (text: string) => readLocksQuery(new URLSearchParams(text));

it('without parameters: all resources, 100 locks', () => {
  expect(read('')).toEqual({ ok: true, query: { resource: undefined, limit: 100 } });
});

it('resource and limit are read', () => {
  expect(read('resource=a%20b&limit=1000')).toEqual({ ok: true, query: { resource: 'a b', limit: 1000 } });
});

it.each([
  ['limit=0', 'from 1 to 1000'],
  ['limit=1001', 'from 1 to 1000'],
  ['limit=', 'from 1 to 1000'],
  ['limit=1e2', 'from 1 to 1000'],
  ['limit=1&limit=2', 'each parameter once'],
  ['resource=', 'needs a name'],
  ['resorce=x', 'only the parameters resource and limit'],
  ['__proto__=1', 'only the parameters'],
])('%s is refused: %s', (text, fault) => {
  expect(read(text)).toEqual({ ok: false, fault: expect.stringContaining(fault) });
});
