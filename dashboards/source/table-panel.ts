import type { FieldOverride } from './grafana-types.js';
import {
  dueOf,
  type PanelSource,
  type PanelWords,
  type QuerySource,
  type Steps,
  targets,
  thresholds,
} from './panel-source.js';
import { type GrafanaUnit, head } from './panels.js';

/** One column of numbers, from one query. */
export interface Column extends QuerySource {
  readonly title: string;
  readonly unit: GrafanaUnit;
  readonly decimals?: number;
  readonly steps?: Steps;
  /** Colour below the first step. Default green. */
  readonly base?: 'yellow';
}

interface TableWords extends PanelWords {
  /** Labels that name a row, in their order; what the queries sum by. */
  readonly rows: readonly string[];
  readonly columns: readonly Column[];
  /** Title of the column that is sorted by, largest first. */
  readonly sortBy: string;
  /** A link on the cells of one label. */
  readonly link?: { readonly label: string; readonly title: string; readonly url: string };
}

/** A table as of now, joined from one query for each column. */
export function table(words: TableWords): PanelSource {
  return {
    width: words.width,
    height: words.height ?? 10,
    due: dueOf(words.columns),
    panel: {
      ...head(words),
      type: 'table',
      targets: targets(words.columns, { instant: true, format: 'table' }),
      transformations: [{ id: 'merge', options: {} }, organised(words)],
      options: {
        cellHeight: 'sm',
        frameIndex: 0,
        showHeader: true,
        sortBy: [{ displayName: words.sortBy, desc: true }],
      },
      fieldConfig: {
        defaults: {
          // Of the labels and as long as a column says nothing else.
          unit: 'none',
          noValue: words.noData,
          custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: true, inspect: false },
        },
        overrides: [...words.columns.map(columnOverride), ...linkOverride(words.link)],
      },
    },
  };
}

/** The values of query B come in a field "Value #B"; with one query it is "Value". */
function organised({ rows, columns }: TableWords) {
  const fields = columns.map((_, index) => (columns.length === 1 ? 'Value' : `Value #${refId(index)}`));
  return {
    id: 'organize',
    options: {
      excludeByName: { Time: true },
      indexByName: Object.fromEntries([...rows, ...fields].map((name, index) => [name, index])),
      renameByName: Object.fromEntries(fields.map((name, index) => [name, columns[index]?.title ?? name])),
    },
  };
}

function columnOverride(column: Column): FieldOverride {
  const decimals = column.decimals === undefined ? [] : [{ id: 'decimals', value: column.decimals }];
  const coloured = column.steps
    ? [
        { id: 'thresholds', value: thresholds(column.steps, column.base) },
        { id: 'color', value: { mode: 'thresholds' } },
        { id: 'custom.cellOptions', value: { type: 'color-text' } },
      ]
    : [];
  return {
    matcher: { id: 'byName', options: column.title },
    // The text for "no rows at all" would fill every empty cell.
    properties: [{ id: 'unit', value: column.unit }, { id: 'noValue', value: '–' }, ...decimals, ...coloured],
  };
}

function linkOverride(link: TableWords['link']): FieldOverride[] {
  if (!link) return [];
  const value = [{ title: link.title, url: link.url, targetBlank: false }];
  return [{ matcher: { id: 'byName', options: link.label }, properties: [{ id: 'links', value }] }];
}

function refId(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}
