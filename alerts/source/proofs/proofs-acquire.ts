import { AT_RESOURCE, counter, fault, histogram, type Line } from './lines.js';
import { policyLine } from './policy-line.js';
import type { Proof } from './proof.js';

const FAILURES = 'redis_lock_acquire_failures_total';

/** `calls` a minute, of which `failed` fail from the onset to `end`. */
function calls(
  perMinute: number,
  failed: number,
  end?: number,
  mode = 'wait',
  reason = 'wait_limit',
): Line[] {
  return [
    counter('redis_lock_acquire_total', { ...AT_RESOURCE, mode }, () => perMinute),
    counter(FAILURES, { ...AT_RESOURCE, mode, reason }, fault(0, failed, end)),
  ];
}

/** One line for each reason, and each in a share that would page. */
function noFailures(): Line[] {
  const reasons = ['contended', 'signal', 'shed', 'closed'];
  return [
    ...calls(100, 0, undefined, 'try', 'connection'),
    ...reasons.map((reason) => counter(FAILURES, { ...AT_RESOURCE, mode: 'try', reason }, fault(0, 24))),
  ];
}

function failing(page: 'true' | 'false'): Proof {
  const noPage = page === 'false' ? [policyLine({ page: 'false' })] : [];
  return {
    alert: 'AcquireFailing',
    ...(page === 'false' ? { variant: 'no-page' } : {}),
    why: 'Four calls a minute are the floor of 20 in five minutes; 51 % of them fail for 20 minutes.',
    lines: [...calls(4, 2.04, 90), ...noPage],
    notYet: 77,
    firesAt: 80,
    stillAt: 93,
    goneAt: 97,
    labels: { severity: 'critical', page, subject: 'acquire', signal: 'state' },
    scope: 'resource',
    says: '51% of the calls to acquire within 5m timed out, failed or had an unknown outcome. Contended tries are not among them.',
    silent: {
      'exactly half fail': [...calls(400, 200), ...noPage],
      'all of 19 calls in the window fail': [...calls(3.8, 3.8), ...noPage],
      'the failures are answers or the own will of callers': [...noFailures(), ...noPage],
    },
    alsoFires: {
      'thousands of contended tries beside the failing waits': [
        ...calls(4, 2.04),
        ...calls(5000, 4900, undefined, 'try', 'contended'),
        ...noPage,
      ],
    },
  };
}

/** Alerts on callers that do not get their lock. */
export const ACQUIRE_PROOFS: readonly Proof[] = [
  failing('true'),
  failing('false'),
  {
    alert: 'AcquireFailureRateHigh',
    why: '20 calls in 15 minutes are the floor; 21 % of them fail for 40 minutes.',
    lines: calls(1.334, 0.28014, 110),
    notYet: 91,
    firesAt: 97,
    stillAt: 113,
    goneAt: 118,
    labels: { severity: 'warning', page: 'false', subject: 'acquire', signal: 'state' },
    scope: 'resource',
    says: '21% of the calls to acquire within 15m timed out, failed or had an unknown outcome. Contended tries are not among them.',
    silent: {
      'exactly one in five fails': calls(100, 20),
      'the failures are answers or the own will of callers': noFailures(),
      'all of 19 calls in the window fail': calls(1.266, 1.266),
    },
    alsoFires: {
      'thousands of contended tries beside the failing waits': [
        ...calls(1.334, 0.28014, 110),
        ...calls(5000, 4900, undefined, 'try', 'contended'),
      ],
    },
  },
  {
    alert: 'AcquireWaitHigh',
    why: '2 % wait between 5 and 10 s: the P99 lies in the middle of that bucket.',
    lines: waits(1.334, 0.02668),
    notYet: 91,
    firesAt: 102,
    labels: { severity: 'warning', page: 'false', subject: 'acquire', signal: 'state' },
    scope: 'resource',
    says: 'the slowest 1 % of the callers wait 7.5s or longer for the lock.',
    silent: {
      'everybody waits nearly 5 s': histogram('redis_lock_acquire_wait_seconds', AT_RESOURCE, {
        '2.5': () => 0,
        '5': () => 100,
        '10': () => 100,
        '+Inf': () => 100,
      }),
      'all of 19 waits in the window are slow': waits(1.266, 1.266),
    },
  },
  {
    alert: 'ContentionHigh',
    why: 'Each of 20 calls in 15 minutes finds the lock held 1.05 times: 51.2 % of all attempts.',
    lines: contention(1.334, 1.05),
    notYet: 99,
    firesAt: 115,
    labels: { severity: 'info', page: 'false', subject: 'acquire', signal: 'state' },
    scope: 'resource',
    says: '51.22% of the attempts found the lock held by another.',
    silent: {
      'every second attempt': contention(100, 1),
      'Redis fails, nobody else holds the lock': [
        ...calls(100, 95, undefined, 'wait', 'connection'),
        counter('redis_lock_acquire_retries_total', AT_RESOURCE, () => 0),
      ],
      'all of 19 calls in the window': contention(1.266, 5),
      'leader election': [...contention(100, 20), policyLine({ kind: 'leader' })],
      'a cron lock': [...contention(100, 20), policyLine({ kind: 'cron' })],
      'tries by design': [...contention(100, 20), policyLine({ kind: 'try' })],
    },
  },
];

function waits(perMinute: number, slow: number): Line[] {
  return histogram('redis_lock_acquire_wait_seconds', AT_RESOURCE, {
    '2.5': fault(perMinute, perMinute - slow),
    '5': fault(perMinute, perMinute - slow),
    '10': () => perMinute,
    '60': () => perMinute,
    '+Inf': () => perMinute,
  });
}

/** Each call is refused `times` before it gets the lock. */
function contention(perMinute: number, times: number): Line[] {
  return [
    counter('redis_lock_acquire_total', { ...AT_RESOURCE, mode: 'wait' }, () => perMinute),
    counter(FAILURES, { ...AT_RESOURCE, mode: 'wait', reason: 'wait_limit' }, () => 0),
    counter('redis_lock_acquire_retries_total', AT_RESOURCE, fault(0, perMinute * times)),
  ];
}
