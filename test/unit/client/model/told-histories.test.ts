import { expect, it } from 'vitest';
import { acquire, brokenRules, carried, process, step } from './told-history.js';

// Found by random histories, when a clean-up began at the late answer to an attempt though the next one was under way.
it('leaves the lock to a second attempt when the answer to the first comes late', async () => {
  const slow = process({ fates: [carried(1, 60), carried(1, 40)], commandTimeoutMs: 30 });
  const broken = await brokenRules(slow, [
    step(acquire({ leaseMs: 1000, waitMs: 2000 }), 120),
    step(acquire({ leaseMs: 1000, process: 1 }), 50),
  ]);
  expect(broken).toEqual([]);
});

// Found by random histories, when close() forgot the time limits of what was under way.
it('ends a release that nobody answers though its client has closed', async () => {
  const lossy = process({ fates: [carried(1, 1), { ...carried(1, 1), kind: 'lose_request' }] });
  const broken = await brokenRules(lossy, [
    step(acquire({}), 5),
    step({ kind: 'release', pick: 0 }, 1),
    step({ kind: 'close', process: 0 }, 5),
  ]);
  expect(broken).toEqual([]);
});
