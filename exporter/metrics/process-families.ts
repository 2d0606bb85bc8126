import { collectDefaultMetrics, Registry } from 'prom-client';
import { LEFT_OUT_PROCESS_FAMILIES } from './catalogue-process.js';

/**
 * Node's process defaults in a registry of their own, so that an application's global registry is not touched.
 * Each call starts a watch on garbage collection and event-loop delay that lasts as long as the process.
 */
export function createProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of LEFT_OUT_PROCESS_FAMILIES) registry.removeSingleMetric(name);
  return registry;
}
