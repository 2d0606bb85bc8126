import type { ClassicDashboard, Place } from '../../../../dashboards/source/grafana-types.js';
import { anyDashboard, dashboardWith, describeLint, type Lint } from '../lint.js';

/** Panels stay within the 24 columns and do not cover each other; Grafana would move them about. */
const lint: Lint = ({ uid, panels }) => {
  const places = panels.flatMap(({ title = '', gridPos }) => (gridPos ? [{ title, ...gridPos }] : []));
  const missing = panels.length > places.length ? [`${uid}: a panel without a place`] : [];
  const outside = places
    .filter(({ x, w, h }) => x < 0 || w < 1 || h < 1 || x + w > 24)
    .map(({ title }) => `${uid} / ${title}: outside of the grid`);
  const covered = places.flatMap((place, index) =>
    places
      .slice(index + 1)
      .filter((other) => overlap(place, other))
      .map(({ title }) => `${uid} / ${title}: covers ${place.title}`),
  );
  return [...missing, ...outside, ...covered];
};

function overlap(a: Place, b: Place): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function moved(change: Partial<Place>): ClassicDashboard {
  const panels = anyDashboard().panels.map((panel, index) =>
    index === 2 && panel.gridPos ? { ...panel, gridPos: { ...panel.gridPos, ...change } } : panel,
  );
  return dashboardWith({ panels });
}

describeLint('panels stay in the grid and apart', lint, [
  { what: 'a panel over another', dashboard: moved({ x: 0, y: 1 }), fault: 'covers' },
  {
    what: 'a panel beyond the last column',
    dashboard: moved({ x: 20, w: 12 }),
    fault: 'outside of the grid',
  },
]);
