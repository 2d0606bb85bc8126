import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

function read(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
}

describe('the provisioning files', () => {
  it('name no uid of a data source, so that dashboards cannot come to depend on it', () => {
    const { apiVersion, datasources } = parse(read('dashboards/provisioning/datasources/redis-lock.yaml'));
    expect(apiVersion).toBe(1);
    expect(datasources).toHaveLength(1);
    expect(datasources[0]).toMatchObject({ type: 'prometheus', access: 'proxy' });
    expect(datasources[0]).not.toHaveProperty('uid');
  });

  it('load files from the path that the page on dashboards says', () => {
    const { apiVersion, providers } = parse(read('dashboards/provisioning/dashboards/redis-lock.yaml'));
    expect(apiVersion).toBe(1);
    expect(providers).toHaveLength(1);
    expect(providers[0]).toMatchObject({ type: 'file', allowUiUpdates: false });
    expect(read('docs/dashboards.md')).toContain(providers[0].options.path);
  });
});
