import { type DashboardQuery, substitute, type Times, type VariableQuery } from './panel-queries.js';
import type { PrometheusServer } from './prometheus-server.js';

/** What a query gave. */
export interface PanelAnswer {
  readonly where: string;
  /** Prometheus's own words, or '' for a good query. */
  readonly error: string;
  /** Every value of every series. */
  readonly values: readonly number[];
}

/** Windows that fit a scrape each second and a run of a minute. */
export const SHORT_RUN: Times = { rateInterval: '15s', range: '2m' };

const STEP_S = 5;
const SHOWN_S = 60;

/** Asks one query as its panel would: over the last minute, or once for now. Never throws on a refused query. */
export async function runQuery(prometheus: PrometheusServer, query: DashboardQuery): Promise<PanelAnswer> {
  const expr = encodeURIComponent(substitute(query.expr, SHORT_RUN));
  const end = Date.now() / 1000;
  const path = query.instant
    ? `/api/v1/query?query=${expr}`
    : `/api/v1/query_range?query=${expr}&start=${end - SHOWN_S}&end=${end}&step=${STEP_S}`;
  const { body } = await prometheus.get(path);
  const answer = JSON.parse(body) as { error?: string; data?: { result: Series[] } };
  const values = (answer.data?.result ?? []).flatMap(({ value, values: list = [] }) =>
    value ? [value] : list,
  );
  return { where: query.where, error: answer.error ?? '', values: values.map(([, text]) => toNumber(text)) };
}

interface Series {
  value?: [number, string];
  values?: [number, string][];
}

function toNumber(text: string): number {
  return text.endsWith('Inf') ? Number(text.replace('Inf', 'Infinity')) : Number(text);
}

/** The values that a variable offers. @throws Error with Prometheus's words. */
export async function runVariable(prometheus: PrometheusServer, query: VariableQuery): Promise<string[]> {
  const selector = encodeURIComponent(substitute(query.selector, SHORT_RUN));
  const { body } = await prometheus.get(`/api/v1/label/${query.label}/values?match[]=${selector}`);
  const answer = JSON.parse(body) as { status: string; error?: string; data?: string[] };
  if (answer.status !== 'success') throw new Error(`${query.where}: ${answer.error}`);
  return answer.data ?? [];
}
