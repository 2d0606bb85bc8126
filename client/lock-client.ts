import { DEFAULT_STORE, storeSchema } from '../contract/batch.js';
import { type Clock, systemClock, type Timer } from '../contract/clock.js';
import { createResourceClassifier } from '../contract/resource.js';
import { loadLockScripts } from '../lua/scripts.js';
import { AcquireCall } from './acquire-call.js';
import { CleanUp } from './clean-up.js';
import { adviseOnConnection } from './connection-advice.js';
import { DeadlineQueue } from './deadline-queue.js';
import { noEmitter } from './emitter/emitter.js';
import { acquireError } from './errors.js';
import { EventSink } from './event-sink.js';
import type { Hold } from './hold.js';
import { HoldRegistry } from './hold-registry.js';
import type { Lease } from './lease.js';
import { adviseOnLease } from './lease-advice.js';
import { LoadShedding } from './load-shedding.js';
import { keyPrefixOf } from './lock-connection.js';
import { LockNames } from './lock-name.js';
import { LoopDelay } from './loop-delay.js';
import {
  type AcquireDefaults,
  type AcquireOptions,
  type AcquirePlan,
  checkClientLimits,
  checkDefaults,
  invalidOption,
  type LockClientOptions,
  type LockKey,
  planAcquire,
} from './options.js';
import type { ClientParts } from './parts.js';
import { ReadyGate } from './ready-gate.js';
import type { AcquireFailure, AcquireResult } from './results.js';
import { ScriptSender } from './script-sender.js';
import { watchServer } from './server-epochs.js';
import { TokenSource } from './tokens.js';
import { traceIdHook } from './trace-id.js';
import { Warnings } from './warnings.js';

/** How long `close()` waits by default: for releases, then for the last events. */
const DEFAULT_CLOSE_TIMEOUT_MS = 1000;

/** What a lock client counts about itself. */
export interface LockClientStats {
  /** Locks held now, those included whose release waits for its answer. */
  readonly held: number;
  /** Acquire calls under way. */
  readonly acquiring: number;
  /** Clean-ups under way, and those not begun since there were too many. */
  readonly cleanUps: number;
  readonly cleanUpsDropped: number;
}

/**
 * Takes locks on one Redis and tells what becomes of them. Sends nothing before the first lock but, on a ready
 * connection, one INFO. Makes no timer that keeps the process alive, and never closes the connection it was given.
 */
export class LockClient implements AsyncDisposable {
  readonly #parts: ClientParts;
  readonly #names: LockNames;
  readonly #defaults: AcquireDefaults;
  #closing: Promise<void> | undefined;

  /** @throws RedisLockError `invalid_option`, `invalid_resource_rule` */
  constructor(options: LockClientOptions) {
    const { redis, store = DEFAULT_STORE, resourceRules, keyPrefixes, defaults = {} } = options;
    if (!storeSchema.safeParse(store).success)
      throw invalidOption('store must be 1 to 64 of A-Z a-z 0-9 _ . -');
    checkDefaults(defaults);
    this.#defaults = { ...defaults };
    this.#names = new LockNames(
      store,
      keyPrefixOf(redis),
      createResourceClassifier(resourceRules, keyPrefixes),
    );
    this.#parts = makeParts(options, store);
    adviseOnConnection(redis, this.#parts.warnings);
  }

  /**
   * One attempt to take a lock. Every outcome is a value; never waits for a lock that another holds.
   * @throws RedisLockError `invalid_option`, before anything is sent
   */
  tryAcquire(key: LockKey, options?: AcquireOptions): Promise<AcquireResult> {
    return new Promise((resolve) => this.#call(key, planAcquire(options, this.#defaults), false, resolve));
  }

  /**
   * Takes a lock, waiting up to `waitMs`. Transient errors of Redis are waited out; final ones end the call at once.
   * @throws RedisLockError `invalid_option`, before anything is sent
   * @throws AcquireError one of its subclasses, by outcome
   */
  async acquire(key: LockKey, options?: AcquireOptions): Promise<Lease> {
    return this.#take(key, planAcquire(options, this.#defaults));
  }

  /**
   * Takes a lock as `acquire` does, runs the work, gives the lock back. Resolves with what the work resolved with,
   * after Redis has answered the release.
   * @throws whatever the work threw, also when the lease was lost: a loss never hides it
   * @throws LeaseLostError when the lease was lost, though the work resolved; the release is then not waited for
   * @throws AcquireError when there was no lock; the work was not started
   */
  async withLock<Result>(
    key: LockKey,
    options: AcquireOptions,
    work: (lease: Lease) => Promise<Result> | Result,
  ): Promise<Result> {
    const plan = planAcquire(options, this.#defaults);
    const lease = await this.#take(key, plan);
    try {
      // The signal may have come between the grant and now.
      if (plan.signal?.aborted) throw this.#error(key, plan, abortedBy(plan.signal));
      const result = await work(lease);
      await settle(lease);
      if (lease.loss !== undefined) throw lease.loss;
      return result;
    } finally {
      await settle(lease);
    }
  }

  get stats(): LockClientStats {
    const { holds, calls, cleanUp } = this.#parts;
    return {
      held: holds.size,
      acquiring: calls.size,
      cleanUps: cleanUp.pending,
      cleanUpsDropped: cleanUp.dropped,
    };
  }

  /**
   * For the end of the process: refuses new acquires, ends waiting ones (`aborted`, `closed`), releases what is still
   * held, and flushes the events. Call it when the work is done: work still going on loses its protection. Waits for
   * at most `timeoutMs` (default 1000) each for the releases and for the flush. Never rejects; repeated calls share
   * one promise. The connection stays open.
   */
  close(timeoutMs: number = DEFAULT_CLOSE_TIMEOUT_MS): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(timeoutMs: number): Promise<void> {
    const { calls, holds, events, epochs, cleanUp, clock } = this.#parts;
    for (const call of [...calls]) call.close();
    const released = releaseAll(holds.list());
    await withinTime(released, timeoutMs, clock);
    await events.close(timeoutMs);
    epochs.stop();
    cleanUp.stop();
    this.#parts.deadlines.retire();
    this.#parts.loopDelay.stop();
  }

  #call(key: LockKey, plan: AcquirePlan, waits: boolean, resolve: (result: AcquireResult) => void): void {
    checkKey(key);
    const name = this.#names.of(key, plan.resource);
    adviseOnLease(plan, name, this.#parts.warnings);
    const call = new AcquireCall(this.#parts, name, plan, waits, resolve);
    if (this.#closing === undefined) call.start();
    else call.close();
  }

  #take(key: LockKey, plan: AcquirePlan): Promise<Lease> {
    return new Promise((resolve, reject) => {
      this.#call(key, plan, true, (result) => {
        if (result.outcome === 'acquired') resolve(result.lease);
        else reject(this.#error(key, plan, result));
      });
    });
  }

  #error(key: LockKey, plan: AcquirePlan, failure: AcquireFailure): Error {
    return acquireError(this.#names.of(key, plan.resource), failure);
  }
}

async function withinTime(done: Promise<void>, timeoutMs: number, clock: Clock): Promise<void> {
  let limit: Timer | undefined;
  const over = new Promise<void>((resolve) => {
    limit = clock.setTimer(resolve, timeoutMs);
  });
  await Promise.race([done, over]);
  limit?.cancel();
}

/** So many at a time: all at once would use up each other's time limit, and hold up the event loop. */
const RELEASES_AT_ONCE = 500;

async function releaseAll(holds: readonly Hold[]): Promise<void> {
  const left = holds.values();
  const inTurn = async () => {
    for (const hold of left) await hold.release();
  };
  await Promise.all(Array.from({ length: RELEASES_AT_ONCE }, inTurn));
}

function makeParts(options: LockClientOptions, store: string): ClientParts {
  const { redis, clock = systemClock(), random = Math.random, emitter = noEmitter(), shedding } = options;
  const limits = checkClientLimits(options);
  const epochs = watchServer(redis);
  const events = new EventSink(store);
  const holds = new HoldRegistry(() => events.holdsChanged());
  const room = {
    redis,
    clock,
    epochs,
    deadlines: new DeadlineQueue(clock),
    gate: new ReadyGate(redis),
    sender: new ScriptSender(
      redis,
      options.scripts ?? loadLockScripts(),
      epochs,
      options.jointCommands ?? true,
    ),
    ...limits,
  };
  events.open(
    emitter.open({
      store,
      server: () => epochs.current,
      holds: () => holds.reports(epochs.current, clock.monoMs()),
      holdCount: () => holds.size,
      shortestLeaseMs: () => holds.shortestLeaseMs,
    }),
  );
  return {
    ...room,
    random,
    events,
    holds,
    tokens: new TokenSource(options.fillRandom),
    calls: new Set(),
    loopDelay: new LoopDelay(clock, () => holds.size > 0),
    cleanUp: new CleanUp(room),
    warnings: new Warnings(options.onWarning),
    shedding: shedding && new LoadShedding(shedding),
    traceId: traceIdHook(options.traceId),
    moment: (server) => ({ atMs: clock.wallMs(), server, epochs }),
  };
}

/** Releases; waits for the answer unless the lease is lost, since then there is nothing left to protect. */
async function settle(lease: Lease): Promise<void> {
  const released = lease.release();
  if (lease.loss === undefined) await released;
}

function abortedBy(signal: AbortSignal): AcquireFailure {
  return { outcome: 'aborted', reason: 'signal', cause: signal.reason };
}

function checkKey(key: unknown): void {
  if (typeof key === 'string' ? key !== '' : Buffer.isBuffer(key) && key.length > 0) return;
  throw invalidOption('key must be a text or a Buffer of at least one byte');
}
