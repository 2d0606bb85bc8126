import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import type { ClassicDashboard } from '../../../../dashboards/source/grafana-types.js';
import { shippedDashboards } from '../../../support/panel-queries.js';
import { anyDashboard, panelWith } from '../lint.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/**
 * The shipped JSON, not the source it is made from, checked by the compiler against the types that Grafana
 * publishes: unknown fields, wrong types and unknown words are faults.
 */
function faults(dashboards: readonly object[]): string[] {
  const folder = join(ROOT, '.cache', 'grafana-types');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `shipped-${process.pid}.ts`);
  const types = "import type { ClassicDashboard } from '../../dashboards/source/grafana-types.js';";
  const values = dashboards.map(
    (value, index) => `export const d${index}: ClassicDashboard = ${JSON.stringify(value)};`,
  );
  writeFileSync(file, [types, ...values].join('\n'));
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the shipped JSON is what Grafana publishes types for', () => {
  it('has no fault', () => {
    const good = shippedDashboards();
    expect(good.length).toBe(4);
    expect(faults(good)).toEqual([]);
  }, 60_000);

  it('a fault in a copy is found out', () => {
    const broken = (change: object): object =>
      ({ ...anyDashboard(), ...change }) satisfies Partial<ClassicDashboard>;
    const legend = { calcs: [], placement: 'top', showLegend: true };
    // In one program: each costs seconds.
    const found = faults([
      broken({ schemaVersion: '39' }),
      broken({ refreshEvery: '30s' }),
      panelWith({ type: 'graph' }),
      panelWith({ options: { legend } }),
    ]).join('\n');
    for (const part of ["'string' is not assignable to type 'number'", 'refreshEvery', '"graph"', '"top"'])
      expect(found).toContain(part);
  }, 60_000);
});
