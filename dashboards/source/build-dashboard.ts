import { annotations } from './annotations.js';
import type { ClassicDashboard, HeadingPanel, Place, QueryPanel } from './grafana-types.js';
import { DASHBOARD_TITLES, links } from './links.js';
import type { DashboardSource, PanelSource, Section } from './panel-source.js';
import { variables } from './variables.js';

/** The grid of Grafana. */
const COLUMNS = 24;

/** A dashboard as file provisioning takes it. The same source always gives the same dashboard. */
export function buildDashboard(source: DashboardSource): ClassicDashboard {
  return {
    uid: source.uid,
    title: DASHBOARD_TITLES[source.uid],
    description: source.description,
    tags: ['redis-lock'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    timezone: 'browser',
    time: { from: source.from, to: 'now' },
    refresh: source.refresh,
    timepicker: {},
    templating: { list: variables() },
    annotations: { list: annotations() },
    links: links(source.uid),
    panels: placed(source.sections),
  };
}

/** Panels with numbers in their order and places in the grid: left to right, a new line where one does not fit. */
function placed(sections: readonly Section[]): readonly (QueryPanel | HeadingPanel)[] {
  const panels: (QueryPanel | HeadingPanel)[] = [];
  let y = 0;
  for (const section of sections) {
    panels.push(heading(section.title, panels.length + 1, y));
    y += 1;
    for (const line of lines(section.panels)) {
      let x = 0;
      for (const { panel, width, height } of line) {
        panels.push(withPlace(panel, panels.length + 1, { x, y, w: width, h: height }));
        x += width;
      }
      y += Math.max(...line.map(({ height }) => height));
    }
  }
  return panels;
}

function lines(panels: readonly PanelSource[]): PanelSource[][] {
  const result: PanelSource[][] = [];
  let room = 0;
  for (const panel of panels) {
    if (panel.width > room) {
      result.push([]);
      room = COLUMNS;
    }
    result.at(-1)?.push(panel);
    room -= panel.width;
  }
  return result;
}

function withPlace(panel: PanelSource['panel'], id: number, gridPos: Place): QueryPanel {
  return { id, gridPos, ...panel };
}

function heading(title: string, id: number, y: number): HeadingPanel {
  return { id, gridPos: { x: 0, y, w: COLUMNS, h: 1 }, type: 'row', title, collapsed: false, panels: [] };
}
