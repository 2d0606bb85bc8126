import { queryPanels } from '../../../support/panel-queries.js';
import { describeLint, graphOf, type Lint, panelWith } from '../lint.js';

/** A panel says what it is, what good looks like and what to do, and what it means when it is empty. */
const lint: Lint = (dashboard) =>
  queryPanels(dashboard).flatMap(({ title, description, fieldConfig: { defaults } }) => {
    const where = `${dashboard.uid} / ${title}`;
    const faults = [
      [title === '', 'no title'],
      [!description.includes('Good: ') || description.length < 60, 'does not say what good looks like'],
      [!defaults.unit, 'no unit'],
      [!defaults.noValue || defaults.noValue === 'No data', 'no text for an empty panel'],
    ] as const;
    return faults.filter(([bad]) => bad).map(([, text]) => `${where}: ${text}`);
  });

describeLint('a panel says what it is for', lint, [
  { what: 'no title', dashboard: panelWith({ title: '' }), fault: 'no title' },
  {
    what: 'a description that repeats the title',
    dashboard: panelWith({ description: 'Locks lost' }),
    fault: 'what good looks like',
  },
  { what: 'no unit', dashboard: graphOf('up', ''), fault: 'no unit' },
  {
    what: 'no text for an empty panel',
    dashboard: panelWith({ fieldConfig: { defaults: { unit: 's', noValue: '' }, overrides: [] } }),
    fault: 'no text for an empty panel',
  },
]);
