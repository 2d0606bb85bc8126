import { toSeconds } from '../../../alerts/source/routing.js';
import type { AlertRule } from '../../../alerts/source/rule.js';
import { parsePromql } from '../../support/promql.js';

const WAS_DOWN = 'RedisLockRedisWasDown';

/** One inhibition rule of Alertmanager. */
export interface Inhibition {
  source_matchers: string[];
  target_matchers: string[];
  equal: string[];
}

/** Labels of the first rule of an alert, its name included. @throws Error when there is none */
export function labelsOf(alerts: readonly AlertRule[], name: string): Record<string, string> {
  const rule = alerts.find(({ alert }) => alert === `RedisLock${name}`);
  if (!rule) throw new Error(`no alert ${name}`);
  return { alertname: rule.alert, ...rule.labels };
}

/** Both alerts are about one resource of one store, so that only the matchers and `subject` decide. */
export function mutes(
  rule: Inhibition,
  source: Record<string, string>,
  target: Record<string, string>,
): boolean {
  const equal = !rule.equal.includes('subject') || source.subject === target.subject;
  return equal && rule.source_matchers.every(fits(source)) && rule.target_matchers.every(fits(target));
}

function fits(labels: Record<string, string>): (matcher: string) => boolean {
  return (matcher) => {
    const [, name = '', op, value = ''] = /^(\w+)(=~|=)"(.*)"$/.exec(matcher) ?? [];
    const actual = labels[name] ?? '';
    return op === '=~' ? new RegExp(`^(?:${value})$`).test(actual) : actual === value;
  };
}

/**
 * Pairs where the muted alert would fire on when the one that mutes it ends, and come up as news of an old fault:
 * events by events, and what a dead Redis causes.
 */
export function outlivedMutes(alerts: readonly AlertRule[], rules: readonly Inhibition[]): string[] {
  return alerts.flatMap((source) =>
    alerts
      .filter((target) => source.alert !== target.alert && isDue(source, target))
      .filter((target) =>
        rules.some((rule) =>
          mutes(
            rule,
            { alertname: source.alert, ...source.labels },
            { alertname: target.alert, ...target.labels },
          ),
        ),
      )
      .filter((target) => lasts(source) < lasts(target) + margin(source))
      .map((target) => `${source.alert} ends before ${target.alert}`),
  );
}

/** What other states mute is a fault of its own, and news when it goes on; RedisWasDown goes on for RedisDown. */
function isDue(source: AlertRule, target: AlertRule): boolean {
  if (source.labels.signal === 'event') return target.labels.signal === 'event';
  return source.alert === WAS_DOWN;
}

/** A release may find the lock gone some minutes after the loss; what a dead Redis causes ends with it. */
function margin({ labels }: AlertRule): number {
  return labels.signal === 'event' ? 300 : 0;
}

/** Seconds that an alert fires after its cause is over: its longest window, and then `keep_firing_for`. */
function lasts({ alert, expr, keep_firing_for = '0s' }: AlertRule): number {
  const counters = parsePromql(expr)
    .selectors()
    .filter(({ name }) => name !== 'redis_lock_resource_info');
  // Redis is back with the first good sample, however long the bridge across failed scrapes is.
  const windows = alert === WAS_DOWN ? [] : counters.map(({ range }) => toSeconds(range ?? '0s'));
  return Math.max(0, ...windows) + toSeconds(keep_firing_for);
}
