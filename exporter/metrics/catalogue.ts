import { EVENT_FAMILIES } from './catalogue-events.js';
import { EXPORTER_FAMILIES } from './catalogue-exporter.js';
import { HOT_FAMILIES, LEDGER_FAMILIES } from './catalogue-ledger.js';
import { POLICY_FAMILIES } from './catalogue-policy.js';
import { PROCESS_FAMILIES } from './catalogue-process.js';
import { SAMPLE_FAMILIES } from './catalogue-sample.js';
import { type FamilySpec, specsOf } from './family-spec.js';

/**
 * Every family on the page of metrics, in its order. The one source of names, types, help texts, units, labels
 * and buckets: the storage, the reference page and the lints of rules and dashboards are made from it.
 */
export const CATALOGUE: readonly FamilySpec[] = [
  ...specsOf(EVENT_FAMILIES),
  ...specsOf(SAMPLE_FAMILIES),
  ...specsOf(LEDGER_FAMILIES),
  ...specsOf(HOT_FAMILIES),
  ...specsOf(POLICY_FAMILIES),
  ...specsOf(EXPORTER_FAMILIES),
  ...PROCESS_FAMILIES,
];
