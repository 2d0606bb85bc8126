import { comparisonAtTheTop } from './comparison-at-the-top.js';
import { countersInRates } from './counters-in-rates.js';
import { gaugesBridged } from './gauges-bridged.js';
import { guards } from './guards.js';
import { jobMatchers } from './job-matchers.js';
import { knownNames } from './known-names.js';
import { labelsStay } from './labels-stay.js';
import type { Lint } from './lint.js';
import { noExactLe } from './no-exact-le.js';
import { promtoolTests } from './promtool-tests.js';
import { quantileBounds } from './quantile-bounds.js';
import { recordingNames } from './recording-names.js';
import { runbooks } from './runbooks.js';
import { seededWords } from './seeded-words.js';
import { texts } from './texts.js';
import { validPromql } from './valid-promql.js';
import { waits } from './waits.js';

/** Every lint, without waivers. */
export const LINTS: readonly Lint[] = [
  validPromql,
  comparisonAtTheTop,
  labelsStay,
  waits,
  guards,
  countersInRates,
  gaugesBridged,
  quantileBounds,
  noExactLe,
  knownNames,
  jobMatchers,
  seededWords,
  texts,
  runbooks,
  promtoolTests,
  recordingNames,
];
