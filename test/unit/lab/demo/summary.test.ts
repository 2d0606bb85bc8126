import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parseText, type Sample, summarise } from '../../../../lab/demo/summary.js';

const LEASES = 'redis_lock_hold_lease_ratio_bucket{resource="stock",renewed="false"';

/** A page at a time. @param n by what everything has grown @param above holds beyond the last bound */
function sample(atMs: number, n: number, above = 0): Sample {
  const text = `# TYPE redis_lock_acquire_total counter
redis_lock_acquire_total{resource="stock",mode="wait"} ${100 * n}
redis_lock_acquire_total{resource="order",mode="try"} ${100 * n}
redis_lock_acquire_failures_total{mode="wait",reason="timeout"} ${10 * n}
redis_lock_acquire_failures_total{mode="try",reason="contended"} ${50 * n}
${LEASES},le="0.5"} ${90 * n}
${LEASES},le="2"} ${100 * n}
${LEASES},le="+Inf"} ${100 * n + above}
redis_lock_renewals_total{resource="report"} ${5 * n}
redis_lock_release_not_owned_total{cause="stolen"} ${3 * n}
redis_lock_lost_total{detected_by="deadline"} ${4 * n}
redis_lock_overlaps_total{resource="stock"} ${2 * n}
redis_lock_keys{resource="stock"} 7`;
  return { atMs, series: parseText(text) };
}

it('says which figures are rates, which are totals, and which are of now', () => {
  expect(summarise(sample(0, 1), sample(5000, 3))).toBe(
    'last 5 s: 80.0 acquires/s, 5 % failed, hold P99 ≤ 2 × lease, 2.0 renewals/s' +
      ' · since the start: 9 releases found the lock gone, 12 leases lost, 6 overlaps · now: 7 lock keys',
  );
});

it('says so when nothing happened, and when holds are beyond the last bound', () => {
  expect(summarise(sample(0, 1), sample(5000, 1))).toContain(
    '0.0 acquires/s, nothing failed, hold P99 unknown',
  );
  expect(summarise(sample(0, 1), sample(5000, 2, 50))).toContain('hold P99 > 2 × lease');
});

it('the sample in the README has the same words', () => {
  const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
  const wordsOf = (line: string | undefined) => line?.replace(/\d+(\.\d+)?/g, '0');
  const sampleLine = /^last 5 s: .*$/m.exec(readme)?.[0];
  expect(wordsOf(sampleLine)).toBe(wordsOf(summarise(sample(0, 1), sample(5000, 3))));
});
