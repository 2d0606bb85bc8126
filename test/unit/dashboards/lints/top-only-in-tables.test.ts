import { queryPanels } from '../../../support/panel-queries.js';
import { parsePromql } from '../../../support/promql.js';
import { describeLint, graphOf, type Lint } from '../lint.js';

/** The members of a topk change at each step of a graph: lines come and go without anything having happened. */
const lint: Lint = (dashboard) =>
  queryPanels(dashboard)
    .filter(({ type, targets }) => type !== 'table' || targets.some(({ instant }) => !instant))
    .flatMap(({ title, targets }) =>
      targets
        .filter(({ expr }) =>
          parsePromql(expr)
            .aggregations()
            .some(({ op }) => op === 'topk' || op === 'bottomk'),
        )
        .map(({ refId }) => `${dashboard.uid} / ${title} / ${refId}: topk over time`),
    );

describeLint('topk is only asked as of now, in tables', lint, [
  { what: 'a graph of the top five', dashboard: graphOf('topk(5, up)'), fault: 'topk over time' },
]);
