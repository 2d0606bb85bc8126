import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { LEFT_OUT_PROCESS_FAMILIES } from './catalogue-process.js';

/** Their histogram is emptied by each scrape: of two that come close together the second sees no delay, which is no number. */
const EMPTIED = ['nodejs_eventloop_lag_mean_seconds', 'nodejs_eventloop_lag_stddev_seconds'];

/**
 * Node's process defaults in a registry of their own, so that an application's global registry is not touched.
 * Each call starts a watch on garbage collection and event-loop delay that lasts as long as the process.
 */
export function createProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of LEFT_OUT_PROCESS_FAMILIES) registry.removeSingleMetric(name);
  for (const name of EMPTIED) showNoneAsZero(registry.getSingleMetric(name));
  return registry;
}

function showNoneAsZero(gauge: unknown): void {
  if (!(gauge instanceof Gauge)) return;
  const set = gauge.set.bind(gauge) as (labels: object, value: number) => void;
  Object.assign(gauge, {
    set: (labels: object, value: number) => set(labels, Number.isNaN(value) ? 0 : value),
  });
}
