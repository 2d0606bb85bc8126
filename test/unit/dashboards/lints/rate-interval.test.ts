import { parsePromql } from '../../../support/promql.js';
import { describeLint, graphOf, type Lint, queriesOf } from '../lint.js';

/** A fixed window is empty when the scrape interval is longer, and blurs when the graph shows minutes. */
const lint: Lint = (dashboard) =>
  queriesOf(dashboard).flatMap(({ where, expr }) =>
    parsePromql(expr)
      .selectors()
      .filter(({ within: [inner] }) => inner === 'rate' || inner === 'irate')
      .filter(({ range, within: [inner] }) => range !== '$__rate_interval' || inner === 'irate')
      .map(({ name, range }) => `${where}: rate of ${name} over ${range}`),
  );

describeLint('every rate is over $__rate_interval', lint, [
  { what: 'a fixed window', dashboard: graphOf('sum(rate(a_total[5m]))'), fault: 'over 5m' },
  { what: '$__interval', dashboard: graphOf('rate(a_total[$__interval])'), fault: 'over $__interval' },
  { what: 'irate', dashboard: graphOf('irate(a_total[$__rate_interval])'), fault: 'rate of a_total' },
]);
