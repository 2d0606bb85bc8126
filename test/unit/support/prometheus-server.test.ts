import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PrometheusServer, startPrometheus } from '../../support/prometheus-server.js';
import { waitFor } from '../../support/wait-for.js';

const exposition = '# HELP up_and_away Height.\n# TYPE up_and_away gauge\nup_and_away{unit="m"} 12.5\n';
const web = createServer((_request, response) => {
  response.setHeader('content-type', 'text/plain; version=0.0.4');
  response.end(exposition);
});
let prometheus: PrometheusServer;

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const { port } = web.address() as AddressInfo;
  const targets = [`127.0.0.1:${port}`];
  prometheus = await startPrometheus({
    config: {
      global: { scrape_interval: '100ms', scrape_timeout: '100ms', evaluation_interval: '100ms' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'test', static_configs: [{ targets }] }],
    },
    files: { 'rules.yml': 'groups: [{name: g, rules: [{record: twice, expr: up_and_away * 2}]}]' },
  });
});

afterAll(async () => {
  await prometheus.stop();
  await new Promise((resolve) => web.close(resolve));
});

describe('startPrometheus', () => {
  it('scrapes, evaluates rules and answers queries', async () => {
    const seen = async () => (await prometheus.query('twice')).length > 0;
    await waitFor(seen, { what: 'the recorded series', timeoutMs: 10_000, everyMs: 50 });
    expect(await prometheus.query('twice')).toMatchObject([
      { labels: { unit: 'm', job: 'test' }, value: 25 },
    ]);
    expect(await prometheus.query('scalar(vector(2))')).toEqual([{ labels: {}, value: 2 }]);
    expect(await prometheus.query('vector(1) / 0')).toMatchObject([{ value: Number.POSITIVE_INFINITY }]);
    expect(await prometheus.targets()).toMatchObject([{ health: 'up', lastError: '' }]);
    expect(prometheus.complaints()).toEqual([]);
    expect(prometheus.log().length).toBeGreaterThan(3);
  });

  it('passes on why a query was refused', async () => {
    await expect(prometheus.query('sum(')).rejects.toThrow('parse error');
  });

  it('says why it did not start', async () => {
    await expect(startPrometheus({ config: { nonsense: true } })).rejects.toThrow(
      /did not start[\s\S]*nonsense/,
    );
  });
});
