import { type Lint, withAlert } from './lint.js';

/** Who is told what: labels and annotations that every alert has, values only in annotations, no template in `summary`. */
export const texts: Lint = {
  name: 'texts',
  check: ({ alerts }) =>
    alerts.flatMap(({ alert, labels, annotations, expr }) => {
      const { summary = '', description = '', runbook_url = '', dashboard_url = '' } = annotations;
      const about =
        /by \([^)]*resource/.test(expr) && !/^(count|max) by \(cluster, namespace, job, store\)/.test(expr);
      const perResource = about && description.includes('$labels.resource');
      return [
        ...(/^RedisLock[A-Z]/.test(alert) ? [] : ['name without RedisLock']),
        ...(['critical', 'warning', 'info'].includes(labels.severity ?? '') ? [] : ['severity']),
        ...(['true', 'false'].includes(labels.page ?? '') ? [] : ['page']),
        ...(Object.values(labels).some((value) => value.includes('{{')) ? ['a template in a label'] : []),
        ...(summary !== '' && !summary.includes('{{') ? [] : ['summary is not static']),
        ...(description.includes('$labels.job') ? [] : ['description without its job']),
        ...(runbook_url.endsWith(`/${alert}.md`) ? [] : ['runbook_url']),
        ...(perResource && !dashboard_url.includes('var-resource=')
          ? ['dashboard_url without resource']
          : []),
        ...(/\/d\/redis-lock-[a-z]+\?/.test(dashboard_url) ? [] : ['dashboard_url']),
      ].map((fault) => `${alert}: ${fault}`);
    }),
  broken: (pack) =>
    withAlert(pack, 'RedisLockLost', { labels: { severity: 'critical', value: '{{ $value }}' } }),
};
