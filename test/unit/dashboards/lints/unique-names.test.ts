import { describe, expect, it } from 'vitest';
import type { ClassicDashboard } from '../../../../dashboards/source/grafana-types.js';
import { shippedDashboards } from '../../../support/panel-queries.js';
import { anyDashboard, dashboardWith } from '../lint.js';

/** Grafana refuses a second dashboard of one uid or title in a folder, and shows only one panel of an id. */
function duplicates(dashboards: readonly ClassicDashboard[]): string[] {
  return [
    ...repeated(dashboards.map(({ uid }) => `uid ${uid}`)),
    ...repeated(dashboards.map(({ title }) => `title ${title}`)),
    ...dashboards.flatMap(({ uid, panels }) => [
      ...repeated(panels.map(({ id }) => `${uid}: panel id ${id}`)),
      ...repeated(panels.map(({ title }) => `${uid}: panel title ${title}`)),
    ]),
  ];
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, index) => names.indexOf(name) !== index);
}

describe('uids, titles and ids are unique', () => {
  it('in all dashboards', () => {
    expect(duplicates(shippedDashboards())).toEqual([]);
  });

  it.each([
    ['two dashboards of one uid', [anyDashboard(), dashboardWith({ title: 'Other' })], 'uid redis-lock'],
    ['two of one title', [anyDashboard(), dashboardWith({ uid: 'other' })], 'title Redis locks'],
    [
      'a panel twice',
      [dashboardWith({ panels: anyDashboard().panels.flatMap((panel) => [panel, panel]) })],
      'panel id 1',
    ],
  ] as const)('%s are found out', (_, dashboards, fault) => {
    expect(duplicates(dashboards).join('\n')).toContain(fault);
  });
});
