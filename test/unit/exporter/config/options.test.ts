import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { helpText } from '../../../../exporter/config/help.js';
import { loadConfig } from '../../../../exporter/config/load-config.js';
import type { OptionSpec } from '../../../../exporter/config/option.js';
import { ACTIONS, OPTIONS } from '../../../../exporter/config/options.js';
import { printConfig } from '../../../../exporter/config/print-config.js';

const rows = Object.entries(OPTIONS) as [string, OptionSpec][];
const noFiles = () => '';

it('every flag, variable and YAML key is used once', () => {
  const all = [...Object.values(OPTIONS), ...Object.values(ACTIONS)];
  for (const names of [all.map((row) => row.flag), all.flatMap((row): readonly string[] => row.env)]) {
    const known = names.filter((name) => name !== null);
    expect(known).toEqual([...new Set(known)]);
  }
});

it.each(rows)('%s: its defaults are good values, and its name says the unit', (name, spec) => {
  for (const text of spec.default) expect(spec.read(text).ok).toBe(true);
  expect(spec.default.length > 0).toBe(spec.count === 'one' || name === 'keyPrefixes');
  expect(name.endsWith('Ms')).toBe(spec.form === 'duration');
  expect(spec.description).toMatch(/\.$/);
});

it('--help names every flag, variable and default', () => {
  const help = helpText();
  const flat = help.replace(/\s+/g, ' ');
  for (const row of Object.values(ACTIONS)) expect(help).toContain(`  ${row.flag}`);
  for (const [, spec] of rows) {
    if (spec.flag !== null) expect(help).toContain(`  ${spec.flag}`);
    for (const name of [...spec.env, ...spec.default]) expect(flat).toContain(name);
  }
  expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
});

it('--print-config shows every row with its origin and no secret, and can be read back', () => {
  const reading = loadConfig({
    argv: ['--redis-url', 'redis://u:canary@h:1/2', '--resource-rule', 'a:*=b', '--reveal-keys'],
    env: { REDIS_LOCK_REDIS_PASSWORD: 'canary' },
    readFile: noFiles,
    scheduleFault: () => undefined,
  });
  if (!reading.ok) throw new Error(reading.faults.join());
  const printed = printConfig(reading.config);
  expect(printed).toContain('redis-url: "redis://u:***@h:1/2" # --redis-url\n');
  expect(printed).toContain('# REDIS_LOCK_REDIS_PASSWORD: "***" # REDIS_LOCK_REDIS_PASSWORD\n');
  expect(printed).toContain('resource-rule: ["a:*=b"] # --resource-rule\n');
  expect(printed.split('\n')).toHaveLength(rows.length + 1);
  expect(`${printed}${inspect(reading, { depth: 9 })}${JSON.stringify(reading)}`).not.toContain('canary');

  const again = loadConfig({
    argv: ['--config', 'printed'],
    env: {},
    readFile: () => printed,
    scheduleFault: () => undefined,
  });
  if (!again.ok) throw new Error(again.faults.join());
  const { redisUrl, redisPassword, ...rest } = again.config.settings;
  expect(reading.config.settings).toMatchObject(rest);
});
