import type {
  AnnotationQuery,
  Dashboard,
  DashboardLink,
  DataQuery,
  DataSourceRef,
  DataTransformerConfig,
  FieldConfig,
  GraphFieldConfig,
  GridPos,
  Panel,
  RowPanel,
  TableFieldOptions,
  TableOptions,
  VariableModel,
} from '@grafana/schema';
import type {
  FieldConfig as HeatmapFieldConfig,
  Options as HeatmapOptions,
} from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen';
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type {
  FieldConfig as TimelineFieldConfig,
  Options as TimelineOptions,
} from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen';
import type { Options as TimeSeriesOptions } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

/**
 * A published type of Grafana as it looks in JSON: its enums as their plain words and numbers, so that nothing of
 * Grafana's is imported at run time.
 */
export type Plain<T> = unknown extends T
  ? T
  : T extends string
    ? `${T}`
    : T extends number
      ? PlainNumber<T>
      : T extends readonly (infer Item)[]
        ? readonly Plain<Item>[]
        : T extends object
          ? { readonly [Key in keyof T]: Plain<T[Key]> }
          : T;

type PlainNumber<T extends number> = number extends T
  ? number
  : `${T}` extends `${infer N extends number}`
    ? N
    : never;

/** A query of Prometheus. Grafana publishes this type in no package of types; the fields are those its own plugin reads. */
export interface PromTarget extends Plain<Omit<DataQuery, 'datasource'>> {
  readonly datasource: Plain<DataSourceRef>;
  readonly expr: string;
  readonly editorMode: 'code';
  readonly legendFormat: string;
  readonly format: 'time_series' | 'table' | 'heatmap';
  readonly instant: boolean;
  readonly range: boolean;
}

type Typed<Type extends string, Options, Custom> = Omit<
  Plain<Panel>,
  'type' | 'options' | 'fieldConfig' | 'targets'
> & {
  readonly type: Type;
  readonly title: string;
  readonly description: string;
  readonly datasource: Plain<DataSourceRef>;
  readonly options: Plain<Options>;
  readonly fieldConfig: {
    readonly defaults: Omit<Plain<FieldConfig>, 'custom'> & {
      readonly unit: string;
      readonly noValue: string;
      readonly custom?: Plain<Partial<Custom>>;
    };
    readonly overrides: readonly FieldOverride[];
  };
  readonly targets: readonly PromTarget[];
  readonly transformations?: readonly Plain<DataTransformerConfig>[];
};

/** Settings for some fields only, such as one column of a table. */
export interface FieldOverride {
  readonly matcher: { readonly id: 'byName' | 'byRegexp' | 'byFrameRefID'; readonly options: string };
  readonly properties: readonly { readonly id: string; readonly value: unknown }[];
}

/** A panel with a query, by its kind. */
export type QueryPanel =
  | Typed<'stat', StatOptions, Record<string, never>>
  | Typed<'timeseries', TimeSeriesOptions, GraphFieldConfig>
  | Typed<'heatmap', HeatmapOptions, HeatmapFieldConfig>
  | Typed<'state-timeline', TimelineOptions, TimelineFieldConfig>
  | Typed<'table', TableOptions, TableFieldOptions>;

/** The heading over a section. */
export type HeadingPanel = Plain<Omit<RowPanel, 'panels'>> & { readonly panels: readonly [] };

/** An annotation: the query once as current versions of Grafana read it and once as older ones do. */
export type PromAnnotation = Plain<Omit<AnnotationQuery, 'target'>> & {
  readonly target: Omit<PromTarget, 'legendFormat' | 'format' | 'instant'> & { readonly interval: string };
  readonly expr: string;
  readonly step: string;
  readonly titleFormat: string;
  readonly textFormat: string;
  readonly tagKeys: string;
  readonly useValueForTime: boolean;
};

/** A variable at the top of a dashboard. */
export type Variable = Plain<VariableModel>;

/** A link at the top of a dashboard. */
export type Link = Plain<DashboardLink>;

/** A place in the grid of 24 columns. */
export type Place = Plain<GridPos>;

/** A whole dashboard in the classic format, which is the one that file provisioning takes. */
export type ClassicDashboard = Omit<
  Plain<Dashboard>,
  'panels' | 'annotations' | 'templating' | 'links' | 'id'
> & {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly panels: readonly (QueryPanel | HeadingPanel)[];
  readonly annotations: { readonly list: readonly PromAnnotation[] };
  readonly templating: { readonly list: readonly Variable[] };
  readonly links: readonly Link[];
};
