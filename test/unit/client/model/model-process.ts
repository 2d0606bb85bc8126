import type { EmitterSource, EventChannel, PendingEvent } from '../../../../client/emitter/emitter.js';
import { type Lease, LockClient } from '../../../../client/index.js';
import { TokenSource } from '../../../../client/tokens.js';
import { EVENT_SCHEMAS } from '../../../../contract/event.js';
import { ownerDigest } from '../../../../contract/lock-id.js';
import { type FakeClock, seededRandom } from '../../../support/clocks.js';
import type { AcquireStep, ProcessPlan } from './history.js';
import type { Mutation } from './mutants.js';
import { asRedis, type ModelConnection, networkScripts, withTogether } from './network.js';
import type { ProcessClock } from './process-clock.js';
import type { TrueHold, Truth } from './truth.js';

/** A call to acquire that can still be given up. */
export interface OpenCall {
  readonly id: string;
  readonly abort: AbortController;
  isOver: boolean;
}

export interface ProcessParts {
  readonly index: number;
  readonly plan: ProcessPlan;
  readonly seed: number;
  readonly batches: boolean;
  readonly world: FakeClock;
  readonly clock: ProcessClock;
  readonly connection: ModelConnection;
  readonly mutation: Mutation;
  readonly truth: Truth;
  /** Called for each grant, once the application knows of it. */
  readonly onGrant: (hold: TrueHold) => void;
}

/** An application with one lock client: does what steps say, and notes what is so. */
export class ModelProcess {
  readonly clock: ProcessClock;
  readonly connection: ModelConnection;
  readonly client: LockClient;
  readonly calls: OpenCall[] = [];
  readonly #parts: ProcessParts;
  /** Gives the same tokens as the client's own source: so the token of each call is known, whatever becomes of it. */
  readonly #tokens: TokenSource;
  readonly #tokenOf = new Map<string, string>();
  #waiting: { atMs: number; order: number; pending: PendingEvent }[] = [];
  #source: EmitterSource | undefined;
  #isChannelClosed = false;
  #callId = '';
  #worksLeft = 0;
  /** Promises of the client that have not settled. */
  open = 0;
  closing: Promise<void> | undefined;
  isClosed = false;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.connection = parts.connection;
    this.#tokens = new TokenSource(seededFill(parts.seed));
    const {
      clock: bendClock = (own) => own,
      scripts: bendScripts = (own) => own,
      channel: bendChannel = (own) => own,
    } = parts.mutation;
    const clock = bendClock(parts.clock);
    this.client = new LockClient({
      redis: asRedis(parts.connection),
      emitter: { open: (source) => bendChannel(this.#open(source)) },
      clock,
      random: seededRandom(parts.seed),
      fillRandom: seededFill(parts.seed),
      scripts: withTogether(bendScripts(networkScripts(), clock)),
      commandTimeoutMs: parts.plan.commandTimeoutMs,
      onWarning: () => {},
      traceId: () => {
        this.#tokenOf.set(this.#callId, this.#tokens.next());
        return this.#callId;
      },
    });
  }

  /** Timers of the client alone, without those of the application's work. */
  get clientTimers(): number {
    return this.clock.pendingTimers - this.#worksLeft;
  }

  tokenOf(call: OpenCall): string {
    return this.#tokenOf.get(call.id) ?? '';
  }

  /** Whether a token is one of its own. */
  owns(token: string): boolean {
    return [...this.#tokenOf.values()].includes(token);
  }

  acquire(step: AcquireStep, key: string): void {
    const abort = new AbortController();
    const call: OpenCall = { id: `c${this.#parts.index}-${this.calls.length}`, abort, isOver: false };
    this.calls.push(call);
    const { leaseMs, waitMs, watchdog, fence, deadlineMs, maxHoldLeases } = step;
    const options = {
      leaseMs,
      waitMs,
      watchdog,
      fence,
      maxHoldMs: maxHoldLeases * leaseMs,
      signal: abort.signal,
      ...(deadlineMs === undefined ? {} : { deadline: this.clock.wallMs() + deadlineMs }),
    };
    this.#callId = call.id;
    this.#follow(this.#take(key, options, waitMs > 0), (lease) => {
      call.isOver = true;
      if (lease !== undefined) this.#begin(call, lease, key, step);
    });
  }

  async #take(
    key: string,
    options: Parameters<LockClient['acquire']>[1],
    waits: boolean,
  ): Promise<Lease | undefined> {
    if (waits) return this.client.acquire(key, options).catch(() => undefined);
    const result = await this.client.tryAcquire(key, options);
    return result.outcome === 'acquired' ? result.lease : undefined;
  }

  #begin(call: OpenCall, lease: Lease, key: string, step: AcquireStep): void {
    const { truth, index, world, onGrant } = this.#parts;
    const token = this.tokenOf(call);
    const hold: TrueHold = {
      process: index,
      key,
      owner: ownerDigest(token),
      token,
      lease,
      acquiredAtMs: world.monoMs(),
      settled: undefined,
      releases: 0,
      mayBeRenewed: step.watchdog,
    };
    truth.holds.push(hold);
    if (this.closing !== undefined) this.#settle(hold);
    if (step.workMs !== undefined) this.#work(hold, step.workMs);
    onGrant(hold);
  }

  #work(hold: TrueHold, workMs: number): void {
    this.#worksLeft += 1;
    this.clock.setTimer(() => {
      this.#worksLeft -= 1;
      this.release(hold);
    }, workMs);
  }

  release(hold: TrueHold): void {
    this.#settle(hold);
    hold.releases += 1;
    this.#follow(hold.lease.release());
  }

  renew(hold: TrueHold, leaseMs: number | undefined): void {
    hold.mayBeRenewed = true;
    this.#follow(hold.lease.renew(leaseMs));
  }

  check(hold: TrueHold): void {
    this.#follow(hold.lease.check());
  }

  close(timeoutMs: number): void {
    for (const hold of this.#parts.truth.holds) if (hold.process === this.#parts.index) this.#settle(hold);
    this.closing ??= this.client.close(timeoutMs).then(() => {
      this.isClosed = true;
    });
  }

  /** Encodes and hands on what has gathered. */
  flush(): void {
    for (const { atMs, order, pending } of this.#waiting.splice(0)) {
      const event = pending.encode();
      EVENT_SCHEMAS[event.kind].parse(event);
      const serverId = this.#source?.server().id;
      this.#parts.truth.events.push({
        order,
        atMs,
        process: this.#parts.index,
        event,
        serverId,
        isTooLate: this.#isChannelClosed,
      });
    }
  }

  #settle(hold: TrueHold): void {
    const { truth, world } = this.#parts;
    hold.settled ??= { order: truth.next(), atMs: world.monoMs() };
  }

  #open(source: EmitterSource): EventChannel {
    this.#source = source;
    return {
      emit: (pending) => this.#emit(pending),
      holdsChanged: () => {},
      close: () => {
        this.flush();
        this.#isChannelClosed = true;
        return Promise.resolve();
      },
    };
  }

  #emit(pending: PendingEvent): void {
    const { truth, world, batches } = this.#parts;
    this.#waiting.push({ atMs: world.monoMs(), order: truth.next(), pending });
    if (!batches) this.flush();
  }

  #follow<Value>(promise: Promise<Value>, act: (value: Value) => void = () => {}): void {
    this.open += 1;
    void promise.then((value) => {
      this.open -= 1;
      act(value);
    });
  }
}

function seededFill(seed: number): (bytes: Buffer) => void {
  const random = seededRandom(seed + 1);
  return (bytes) => {
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = Math.floor(random() * 256);
  };
}
