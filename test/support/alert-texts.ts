import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { shippedDashboards } from './panel-queries.js';
import type { NotifiedAlert } from './webhook-receiver.js';

const RUNBOOKS = fileURLToPath(new URL('../../alerts/runbooks/', import.meta.url));

/** No annotation has a rest of its template in it, and every link leads somewhere that knows its variables. */
export function expectSoundTexts({
  labels,
  annotations,
}: Pick<NotifiedAlert, 'labels' | 'annotations'>): void {
  for (const text of Object.values(annotations))
    expect(text).not.toMatch(/\{\{|\}\}|NaN|Inf|<no value>|<error|%!/);
  expect(existsSync(join(RUNBOOKS, `${labels.alertname}.md`))).toBe(true);
  expect(annotations.runbook_url).toBe(`https://runbooks.example.com/redis-lock/${labels.alertname}.md`);
  const link = new URL(annotations.dashboard_url ?? '');
  const dashboard = shippedDashboards().find(({ uid }) => link.pathname === `/d/${uid}`);
  const variables = dashboard?.templating.list.map(({ name }) => name) ?? [];
  for (const [name, value] of link.searchParams) {
    expect(variables, name).toContain(name.replace('var-', ''));
    expect(value, name).toBe(labels[name.replace('var-', '')]);
  }
}
