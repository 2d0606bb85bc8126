import { parsePromql } from '../../../support/promql.js';
import { type Lint, withAlert } from './lint.js';

/** Alerts that fire at once: what they tell happened, and cannot un-happen. Kept firing at least as long as their window. */
const EVENTS = [
  ...['Overlap', 'Lost', 'MassLost', 'FenceRegression', 'DuplicateExecution', 'ReleaseNotOwned'],
  ...['GhostHolder', 'AbandonedTakenOver', 'FenceRejections', 'LastHoldNearLease', 'WatchdogRunaway'],
].map((name) => `RedisLock${name}`);

/** Every alert waits with `for`, or is on the short list and keeps firing. */
export const waits: Lint = {
  name: 'waits',
  check: ({ alerts }) =>
    alerts.flatMap((rule) => {
      if (rule.labels.signal === 'state') return rule.for === undefined ? [`${rule.alert}: no for`] : [];
      if (!EVENTS.includes(rule.alert)) return [`${rule.alert}: not on the list of events`];
      const keep = seconds(rule.keep_firing_for ?? '0s');
      const longest = Math.max(...windows(rule.expr));
      return keep >= longest && keep > 0 ? [] : [`${rule.alert}: keep_firing_for is shorter than the window`];
    }),
  broken: (pack) => withAlert(pack, 'RedisLockLost', { keep_firing_for: '1m' }),
};

/** Policies are no events; their windows bridge only. */
function windows(expr: string): number[] {
  const selectors = parsePromql(expr).selectors();
  return selectors
    .filter(({ name }) => name !== 'redis_lock_resource_info')
    .map(({ range }) => seconds(range ?? '0s'));
}

function seconds(text: string): number {
  const unit = { s: 1, m: 60, h: 3600 }[text.slice(-1)] ?? Number.NaN;
  return Number(text.slice(0, -1)) * unit;
}
