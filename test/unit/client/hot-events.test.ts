import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AcquiredEvent } from '../../../client/acquire-events.js';
import type { PendingEvent } from '../../../client/emitter/emitter.js';
import { HoldIdentity } from '../../../client/hold-identity.js';
import { LockName } from '../../../client/lock-name.js';
import { planAcquire } from '../../../client/options.js';
import { ReleasedEvent } from '../../../client/release-event.js';
import type { ReleaseResult } from '../../../client/results.js';
import { ServerEpoch } from '../../../client/server-epochs.js';
import { EVENT_SCHEMAS } from '../../../contract/event.js';
import { cleanResourceName } from '../../../contract/resource.js';

/** Longest run of this test's property. */
const RUNS = { numRuns: 500 };

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });
const ms = fc.oneof(fc.double({ min: -5, max: 1e12, noNaN: true }), fc.constant(0));
const whole = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const fence = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const identity = fc
  .record({
    key: fc.oneof(text, fc.uint8Array({ minLength: 1 }).map(Buffer.from)),
    resource: text,
    fence: maybe(fence),
  })
  .map(({ key, resource, fence }) => {
    const name = new LockName(key, 'default', '', () => cleanResourceName(resource));
    return new HoldIdentity(name, fence, 'a token');
  });

/** The server of the answer is the current one, another that is known, or one that is not. */
const stamped = fc
  .record({
    serverUs: whole,
    isCurrent: fc.boolean(),
    ids: fc.tuple(maybe(fc.constant('a1')), maybe(fc.constant('b2'))),
  })
  .map(({ serverUs, isCurrent, ids }) => {
    const [current, other] = ids.map((id) => Object.assign(new ServerEpoch(true), { id }));
    if (current === undefined || other === undefined) throw new Error('two epochs were made');
    return { server: { serverUs, epoch: isCurrent ? current : other }, epochs: { current, stop: () => {} } };
  });

const acquired = fc
  .record({
    identity,
    stamp: stamped,
    hasServer: fc.boolean(),
    waitMs: ms,
    attempts: fc.integer({ min: 1, max: 1000 }),
    mode: fc.constantFrom('try' as const, 'wait' as const),
    watchdog: fc.boolean(),
    traceId: maybe(fc.stringMatching(/^[0-9a-f]{32}$/)),
  })
  .map(({ identity, stamp, hasServer, watchdog, ...rest }) => {
    const plan = planAcquire({ leaseMs: 1000, watchdog }, {});
    const server = hasServer ? stamp.server : undefined;
    return new AcquiredEvent(identity, {
      ...rest,
      atMs: 1_790_000_000_000,
      plan,
      server,
      epochs: stamp.epochs,
    });
  });

const results: readonly ReleaseResult[] = [
  { outcome: 'released' },
  { outcome: 'expired', latestFence: null },
  { outcome: 'error', reason: 'timeout', cause: new Error('x') },
] as unknown as ReleaseResult[];

const released = fc
  .record({
    identity,
    stamp: stamped,
    hasServer: fc.boolean(),
    result: fc.constantFrom(...results),
    holdMs: ms,
    peakUse: ms,
    loopDelayMs: ms,
    lost: fc.boolean(),
    renewals: fc.nat(),
    settledUs: maybe(whole),
  })
  .map(({ identity, stamp, hasServer, result, ...rest }) => {
    const server = hasServer ? stamp.server : undefined;
    const facts = {
      ...rest,
      atMs: 1_790_000_000_000,
      leaseMs: 1000,
      latest: undefined,
      server,
      epochs: stamp.epochs,
    };
    return new ReleasedEvent(identity, result, facts);
  });

/** Both forms of one event. */
function check(pending: PendingEvent): void {
  const event = pending.encode();
  const json = pending.encodeJson?.() ?? '';
  expect(JSON.parse(json)).toEqual(event);
  expect(Buffer.byteLength(json), 'in ASCII').toBe(json.length);
}

describe('the two events of every lock, written as text', () => {
  it('a grant: the same as the object, whatever the key, the resource and the server', () => {
    fc.assert(fc.property(acquired, check), RUNS);
  });

  it('an ending: the same as the object, whatever the outcome', () => {
    fc.assert(fc.property(released, check), RUNS);
  });

  it('a grant keeps to the contract', () => {
    fc.assert(
      fc.property(acquired, (pending) => {
        EVENT_SCHEMAS.acquire.parse(JSON.parse(pending.encodeJson()));
      }),
      RUNS,
    );
  });
});
