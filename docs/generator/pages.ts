import { contractJsonSchemas } from '../../contract/index.js';
import { errorsPage } from './errors-page.js';
import { eventsPage } from './events-page.js';
import { httpPage } from './http-page.js';
import { metricsPage } from './metrics-page.js';
import { optionsPage } from './options-page.js';

/** Every generated file: its path below `docs/reference/`, and its text. */
export function referencePages(): Map<string, string> {
  const schemas = Object.entries(contractJsonSchemas());
  return new Map([
    ['metrics.md', metricsPage()],
    ['events.md', eventsPage()],
    ['options.md', optionsPage()],
    ['errors.md', errorsPage()],
    ['http-api.md', httpPage()],
    ...schemas.map(
      ([name, schema]) => [`schema/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`] as const,
    ),
  ]);
}
