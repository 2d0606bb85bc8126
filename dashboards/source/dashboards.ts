import { capacityReview } from './capacity-review.js';
import { exporterHealth } from './exporter-health.js';
import { overview } from './overview.js';
import type { DashboardSource } from './panel-source.js';
import { resourceDetail } from './resource-detail.js';

/** Every dashboard, in the order of the links. */
export function dashboardSources(): readonly DashboardSource[] {
  return [overview(), resourceDetail(), capacityReview(), exporterHealth()];
}
