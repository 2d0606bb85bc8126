import fc from 'fast-check';
import type { Fate } from './network.js';

/** What one process asks for when it takes a lock. */
export interface AcquireStep {
  readonly kind: 'acquire';
  readonly process: number;
  readonly lock: number;
  readonly leaseMs: number;
  /** 0: `tryAcquire`. */
  readonly waitMs: number;
  readonly watchdog: boolean;
  readonly fence: boolean;
  readonly maxHoldLeases: number;
  /** From the grant to the release; undefined: until a step or the end releases it. */
  readonly workMs: number | undefined;
  /** Business deadline, from now. */
  readonly deadlineMs: number | undefined;
}

/** One thing that happens. */
export type Step =
  | AcquireStep
  | { readonly kind: 'release' | 'check' | 'look' | 'abort' | 'commit'; readonly pick: number }
  | { readonly kind: 'renew'; readonly pick: number; readonly leaseMs: number | undefined }
  | {
      readonly kind: 'stop' | 'suspend';
      readonly process: number;
      readonly forMs: number;
      readonly timersFirst: boolean;
    }
  | { readonly kind: 'cut'; readonly process: number; readonly downMs: number; readonly strays: boolean }
  | { readonly kind: 'jump_wall' | 'leap'; readonly process: number; readonly byMs: number }
  | { readonly kind: 'server_jump'; readonly byMs: number }
  | { readonly kind: 'steal'; readonly lock: number; readonly leaseMs: number | undefined }
  | { readonly kind: 'delete' | 'spoil'; readonly lock: number }
  | { readonly kind: 'flush' }
  | { readonly kind: 'failover'; readonly aheadMs: number; readonly downMs: number; readonly stays: number }
  | { readonly kind: 'close'; readonly process: number };

export interface TimedStep {
  readonly step: Step;
  /** Time that passes after it. */
  readonly thenMs: number;
}

/** One process with a lock client. */
export interface ProcessPlan {
  readonly fates: readonly Fate[];
  readonly commandTimeoutMs: number;
  readonly tellsRunId: boolean;
  readonly resends: boolean;
  readonly originMs: number;
}

/** Everything that decides a history. */
export interface History {
  readonly seed: number;
  /** Ask `isValid()` of every lease when it matters; otherwise nobody looks, and timers alone must tell. */
  readonly looks: boolean;
  /** Events are encoded and judged after each step, as in batches, instead of at once. */
  readonly batches: boolean;
  readonly ending: 'release' | 'close';
  readonly closeMs: number;
  readonly processes: readonly ProcessPlan[];
  readonly steps: readonly TimedStep[];
}

export const LOCKS = ['lock:stock:1', 'lock:stock:2'];
const LEASES_MS = [20, 50, 120, 400, 1000];
const PROCESSES = 3;

const pick = fc.nat(7);
const process = fc.nat(PROCESSES - 1);
const lock = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) });
const leaseMs = fc.constantFrom(...LEASES_MS);
const pauseMs = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 40, max: 1500 }));
const sometimes = fc.oneof(
  { weight: 2, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);

const delayMs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 5 }) },
  { weight: 2, arbitrary: fc.integer({ min: 5, max: 60 }) },
  { weight: 1, arbitrary: fc.integer({ min: 60, max: 600 }) },
);
const fate: fc.Arbitrary<Fate> = fc.record({
  requestMs: delayMs,
  replyMs: delayMs,
  kind: fc.oneof(
    { weight: 25, arbitrary: fc.constant('carry' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('lose_request' as const, 'lose_reply' as const, 'refuse' as const),
    },
  ),
});

const processPlan: fc.Arbitrary<ProcessPlan> = fc.record({
  fates: fc.array(fate, { minLength: 1, maxLength: 12 }),
  commandTimeoutMs: fc.constantFrom(30, 150, 1000),
  tellsRunId: fc.boolean(),
  resends: fc.boolean(),
  originMs: fc.integer({ min: 0, max: 1_000_000 }),
});

const acquire: fc.Arbitrary<AcquireStep> = fc.record({
  kind: fc.constant('acquire' as const),
  process,
  lock,
  leaseMs,
  waitMs: fc.constantFrom(0, 0, 60, 500, 2000),
  watchdog: sometimes,
  fence: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  maxHoldLeases: fc.constantFrom(1, 3, 10),
  workMs: fc.option(pauseMs, { nil: undefined }),
  deadlineMs: fc.option(fc.integer({ min: 0, max: 800 }), { nil: undefined, freq: 6 }),
});

const ofHold: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('release', 'release', 'check', 'check', 'check', 'look', 'abort', 'commit'),
  pick,
});
const renew: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('renew'),
  pick,
  leaseMs: fc.option(leaseMs, { nil: undefined }),
});
const stop: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('stop'),
  process,
  forMs: pauseMs,
  timersFirst: fc.boolean(),
});
const cut: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('cut'),
  process,
  downMs: fc.integer({ min: 1, max: 400 }),
  strays: fc.boolean(),
});
const clocks: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('jump_wall' as const),
    process,
    byMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
  }),
  fc.record({ kind: fc.constant('leap' as const), process, byMs: pauseMs }),
);
const close: fc.Arbitrary<Step> = fc.record({ kind: fc.constant('close'), process });

/** What a lock must withstand. */
const harmless: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 14, arbitrary: acquire },
  { weight: 10, arbitrary: ofHold },
  { weight: 5, arbitrary: renew },
  { weight: 2, arbitrary: stop },
  { weight: 2, arbitrary: cut },
  { weight: 1, arbitrary: clocks },
  { weight: 1, arbitrary: close },
];

/** What breaks a lock from outside: the client cannot prevent it, and must tell the truth about it. */
const harmful: readonly fc.WeightedArbitrary<Step>[] = [
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('steal'),
      lock,
      leaseMs: fc.option(leaseMs, { nil: undefined }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete'), lock }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('spoil'), lock }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('failover'),
      aheadMs: fc.integer({ min: -3000, max: 3000 }),
      downMs: fc.integer({ min: 1, max: 300 }),
      stays: fc.nat(7),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('server_jump'), byMs: fc.integer({ min: -2000, max: 2000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('suspend'),
      process,
      forMs: pauseMs,
      timersFirst: fc.boolean(),
    }),
  },
];

function historyOf(steps: readonly fc.WeightedArbitrary<Step>[]): fc.Arbitrary<History> {
  const timed = fc.record({ step: fc.oneof(...steps), thenMs: fc.oneof(fc.nat(12), fc.nat(150)) });
  return fc.record({
    seed: fc.nat(),
    looks: fc.boolean(),
    batches: fc.boolean(),
    ending: fc.constantFrom('release' as const, 'close' as const),
    closeMs: fc.constantFrom(10, 1000),
    processes: fc.array(processPlan, { minLength: PROCESSES, maxLength: PROCESSES }),
    steps: fc.array(timed, { minLength: 1, maxLength: 30 }),
  });
}

/** On one healthy server, with monotonic clocks that run true. */
export const healthyHistory = historyOf(harmless);
/** Everything. */
export const anyHistory = historyOf([...harmless, ...harmful]);
