import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../exporter/config/load-config.js';
import { printConfig } from '../../../../exporter/config/print-config.js';
import { POLICY_FIELDS } from '../../../../exporter/config/resource-policy.js';
import { codeBlocks } from '../../docs/examples.js';

const load = (yaml: string) =>
  loadConfig({ argv: ['--config', 'c.yaml'], env: {}, readFile: () => yaml, scheduleFault: () => undefined });

function policiesOf(yaml: string) {
  const reading = load(yaml);
  return reading.ok ? Object.fromEntries(reading.config.settings.policies) : reading.faults;
}

describe('resources: in the settings file', () => {
  it('gives each resource its policy, the default for what is left out', () => {
    const yaml =
      'resources:\n  nightly: { kind: cron, interval: 25h, expiry: required }\n  stock:\n    page: false\n  bull: { events: none }\n';
    expect(policiesOf(yaml)).toEqual({
      nightly: { kind: 'cron', page: true, expiry: 'required', events: 'expected', intervalMs: 90_000_000 },
      stock: { kind: 'mutex', page: false, expiry: 'optional', events: 'expected', intervalMs: undefined },
      bull: { kind: 'mutex', page: true, expiry: 'optional', events: 'none', intervalMs: undefined },
    });
  });

  it('may be left out', () => {
    expect(policiesOf('store: shop\n')).toEqual({});
  });

  it.each([
    ['resources:\n  - stock\n', 'c.yaml:1 resources must be a map'],
    [
      'resources:\n  stock: mutex\n',
      'c.yaml:2 resources: "stock" must be a map of kind, page, expiry, events, interval',
    ],
    [
      'resources:\n  stock: { kind: mutx }\n',
      'c.yaml:2 resources: "stock" kind must be mutex, try, cron or leader',
    ],
    ['resources:\n  stock: { events: maybe }\n', '"stock" events must be expected or none'],
    ['resources:\n  stock: { knd: mutex }\n', 'has an unknown field "knd" (did you mean kind?)'],
    ['resources:\n  stock: { page: yes }\n', 'page must be true or false'],
    ['resources:\n  stock: { kind: [cron] }\n', 'kind must be one value'],
    ['resources:\n  stock: { interval: 1h }\n', '"stock" interval goes with kind cron only'],
    ['resources:\n  stock: { kind: cron, interval: 5s }\n', 'interval must be from 1m to 800h'],
    ['resources:\n  1: { kind: cron }\n', 'the name of a resource must be text'],
    ['resorces: {}\n', '"resorces" is not an option (did you mean resources?)'],
  ])('%j is a fault that says what to do', (yaml, fault) => {
    expect(policiesOf(yaml)).toEqual([expect.stringContaining(fault)]);
  });

  it('is printed so that it can be read again', () => {
    const reading = load(
      'resources:\n  nightly: { kind: cron, interval: 25h }\n  "a: b": { page: false, events: none }\n',
    );
    if (!reading.ok) throw new Error(reading.faults.join('\n'));
    const printed = printConfig(reading.config);
    expect(policiesOf(printed)).toEqual(Object.fromEntries(reading.config.settings.policies));
  });

  it('is read from the example of docs/operations.md without a fault', () => {
    const page = readFileSync(
      fileURLToPath(new URL('../../../../docs/operations.md', import.meta.url)),
      'utf8',
    );
    const [example = ''] = codeBlocks(page, 'yaml');
    expect(policiesOf(example)).toMatchObject({
      'nightly-report': { kind: 'cron', intervalMs: 90_000_000 },
      'bull-mail': { events: 'none' },
    });
  });

  it('has a default in range for each field', () => {
    for (const [name, field] of Object.entries(POLICY_FIELDS)) {
      if (name !== 'interval') expect(field.read(field.default), name).toMatchObject({ ok: true });
    }
  });
});
