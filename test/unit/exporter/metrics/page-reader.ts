import type { Clock } from '../../../../contract/clock.js';
import type { Metrics } from '../../../../exporter/metrics/ports.js';
import { createMetrics, type MetricsOptions } from '../../../../exporter/metrics/recorder.js';
import { FakeClock } from '../../../support/clocks.js';

/** Metrics without process defaults and without the first-increment hold, unless a test says otherwise. */
export function makeMetrics(options: Partial<MetricsOptions> & { clock?: Clock } = {}): Metrics {
  return createMetrics({
    clock: new FakeClock(),
    version: '1.2.3',
    firstIncrementHoldMs: 0,
    processMetrics: false,
    ...options,
  });
}

/** The page as one text. */
export async function readPage(metrics: Metrics): Promise<string> {
  let text = '';
  for await (const piece of metrics.render()) text += piece;
  return text;
}

/** Series, as they stand in the text (`name{labels}`), with their values. Fails on a series that stands there twice. */
export async function readSeries(metrics: Metrics): Promise<Map<string, number>> {
  const series = new Map<string, number>();
  for (const line of (await readPage(metrics)).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const at = line.lastIndexOf(' ');
    const name = line.slice(0, at);
    if (series.has(name)) throw new Error(`the series ${name} stands on the page twice`);
    series.set(name, Number(line.slice(at + 1)));
  }
  return series;
}

/**
 * The lock series that `act` moved or gave birth to with a value, without prefix, store and resource, and by how
 * much. The policy of a resource, which comes from the configuration, is left out.
 */
export async function movedBy(metrics: Metrics, act: () => void): Promise<Record<string, number>> {
  const before = await readSeries(metrics);
  act();
  const moved: Record<string, number> = {};
  for (const [name, value] of await readSeries(metrics)) {
    const by = value - (before.get(name) ?? 0);
    if (by !== 0 && !name.includes('_bucket{') && !name.startsWith('redis_lock_resource_i'))
      moved[shorten(name)] = Number(by.toFixed(6));
  }
  return moved;
}

/** `redis_lock_lost_total{store="default",resource="stock",detected_by="renew"}` → `lost_total{detected_by="renew"}`. */
function shorten(name: string): string {
  return name
    .replace(/^redis_lock_/, '')
    .replace(/store="[^"]*",resource="[^"]*",?/, '')
    .replace('{}', '');
}

/** The value of a label in a series as it stands in the text, unescaped. */
export function labelOf(series: string, label: string): string | undefined {
  const found = new RegExp(`[{,]${label}="((?:[^"\\\\]|\\\\.)*)"`).exec(series)?.[1];
  return found?.replace(/\\([\\n"])/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
}
