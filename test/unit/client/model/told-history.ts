import type { AcquireStep, History, ProcessPlan, TimedStep } from './history.js';
import { judge, type Rule } from './invariants.js';
import { ModelHistory } from './model-history.js';
import type { Mutation } from './mutants.js';
import { CALM, type Fate } from './network.js';

/** The promises that a history told by hand breaks; known defects count. All processes but the first have a calm network. */
export async function brokenRules(
  first: ProcessPlan,
  steps: readonly TimedStep[],
  mutation: Mutation = {},
): Promise<Rule[]> {
  const plan: History = {
    seed: 1,
    looks: false,
    batches: false,
    ending: 'release',
    closeMs: 1000,
    processes: [first, process({}), process({})],
    steps,
  };
  const history = new ModelHistory(plan, mutation);
  await history.run();
  return judge(history).map(({ rule }) => rule);
}

/** A process with a calm network, but for `settings`. */
export function process(settings: Partial<ProcessPlan>): ProcessPlan {
  const common = { fates: [CALM], commandTimeoutMs: 150, tellsRunId: true, resends: false, originMs: 0 };
  return { ...common, ...settings };
}

/** A command that takes its time, and arrives. */
export function carried(requestMs: number, replyMs: number): Fate {
  return { requestMs, replyMs, kind: 'carry' };
}

/** A step, and the time that passes after it. */
export function step(one: TimedStep['step'], thenMs: number): TimedStep {
  return { step: one, thenMs };
}

/** Process 0 tries to take the first lock for 400 ms, but for `settings`. */
export function acquire(settings: Partial<AcquireStep>): AcquireStep {
  return {
    kind: 'acquire',
    process: 0,
    lock: 0,
    leaseMs: 400,
    waitMs: 0,
    watchdog: false,
    fence: true,
    maxHoldLeases: 10,
    workMs: undefined,
    deadlineMs: undefined,
    ...settings,
  };
}
