import { parsePromql } from '../../../support/promql.js';
import type { Lint } from './lint.js';

/** Recording rules are named `level:metric:operations`; alerts do not depend on them, for they are in other groups. */
export const recordingNames: Lint = {
  name: 'recording-names',
  check: ({ alerts, recordings }) => [
    ...recordings
      .filter(({ record }) => !/^[a-z_]+:redis_lock_[a-z_]+:[a-z0-9_]+$/.test(record))
      .map(({ record }) => `${record}: not level:metric:operations`),
    ...alerts.flatMap(({ alert, expr }) =>
      parsePromql(expr)
        .selectors()
        .filter(({ name }) => name.includes(':'))
        .map(({ name }) => `${alert} depends on ${name}`),
    ),
  ],
  broken: (pack) => ({ ...pack, recordings: [{ record: 'lock_failures', expr: 'vector(1)' }] }),
};
