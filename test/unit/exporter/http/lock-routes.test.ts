import { describe, expect, it } from 'vitest';
import { httpGet, httpPost, httpSend } from '../../../support/http.js';
import { closeAfterEach, serveLocal } from './http-bench.js';

closeAfterEach();

const get = async (path: string) => {
  const { url } = await serveLocal();
  const { status, body } = await httpGet(`${url}${path}`);
  return { status, body: JSON.parse(body) };
};

describe('the paths about single locks', () => {
  it('show what was found, and the hottest locks up to a limit', async () => {
    expect(await get('/api/v1/findings')).toEqual({ status: 200, body: { findings: [] } });
    expect(await get('/api/v1/hot')).toEqual({ status: 200, body: { limit: 20 } });
    expect(await get('/api/v1/hot?limit=1024')).toEqual({ status: 200, body: { limit: 1024 } });
  });

  it('show a timeline by lock id', async () => {
    const path = '/api/v1/timeline?lock=0123456789abcdef';
    expect(await get(path)).toEqual({ status: 200, body: { lock: '0123456789abcdef' } });
  });

  it.each([{ key: 'lock:ström:1' }, { keyBase64: Buffer.from('lock:ström:1').toString('base64') }])(
    'and by key, which is posted: %o',
    async (body) => {
      const { url } = await serveLocal();
      const answer = await httpPost(`${url}/api/v1/timeline`, body);
      const key = Buffer.from('lock:ström:1').toString('latin1');
      expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({
        status: 200,
        body: { key },
      });
    },
  );

  it.each([
    '/api/v1/timeline',
    '/api/v1/timeline?lock=lock:stock:1',
    '/api/v1/timeline?lock=0123456789abcdef&key=a',
    '/api/v1/hot?limit=0',
    '/api/v1/hot?limit=1025',
    '/api/v1/hot?top=3',
  ])('refuse %s and say what is wanted', async (path) => {
    expect(await get(path)).toMatchObject({ status: 400, body: { error: { id: 'bad_query' } } });
  });

  it.each([[[]], [{}], [{ key: '' }], [{ key: 7 }]])('refuse the body %o', async (body) => {
    const { url } = await serveLocal();
    const answer = await httpPost(`${url}/api/v1/timeline`, body);
    expect([answer.status, JSON.parse(answer.body).error.id]).toEqual([400, 'bad_query']);
  });

  it('refuse another method', async () => {
    const { url } = await serveLocal();
    for (const path of ['findings', 'hot', 'timeline'])
      expect((await httpSend('DELETE', `${url}/api/v1/${path}`, undefined)).status).toBe(405);
  });
});
