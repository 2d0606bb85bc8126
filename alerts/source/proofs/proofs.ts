import type { AlertRule } from '../rule.js';
import type { Proof } from './proof.js';
import { proofFile, proofFileName } from './proof-files.js';
import { ACQUIRE_PROOFS } from './proofs-acquire.js';
import { EXPORTER_PROOFS } from './proofs-exporter.js';
import { LEASE_PROOFS } from './proofs-lease.js';
import { OWNERSHIP_PROOFS } from './proofs-ownership.js';
import { REDIS_PROOFS } from './proofs-redis.js';

/** One proof or more for each alert rule. */
export const PROOFS: readonly Proof[] = [
  ...OWNERSHIP_PROOFS,
  ...ACQUIRE_PROOFS,
  ...LEASE_PROOFS,
  ...REDIS_PROOFS,
  ...EXPORTER_PROOFS,
];

/** Every proof's file by its name in `alerts/tests/`. */
export function proofFiles(rules: readonly AlertRule[]): Map<string, string> {
  const summaries = new Map(rules.map(({ alert, annotations }) => [alert, annotations.summary ?? '']));
  return new Map(
    PROOFS.map((proof) => [
      proofFileName(proof),
      proofFile(proof, summaries.get(`RedisLock${proof.alert}`) ?? ''),
    ]),
  );
}
