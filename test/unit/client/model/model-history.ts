import { FakeClock } from '../../../support/clocks.js';
import { type History, LOCKS, type Step } from './history.js';
import type { Rule, Violation } from './invariants.js';
import { ModelProcess, type OpenCall } from './model-process.js';
import { ModelRedis, type ScriptReply } from './model-redis.js';
import type { Mutation } from './mutants.js';
import { ModelConnection, type Request } from './network.js';
import { ProcessClock } from './process-clock.js';
import { type TrueHold, Truth } from './truth.js';

/** Servers' clocks are ahead of the world's by this and a bit, so that a ms of the one begins within one of the other. */
const SERVER_EPOCH_US = 1_700_000_000_000_437;
/** Longest time after which everything that was begun must have ended: the longest wait, lease and time-out. */
const SETTLE_MS = 8000;
const SETTLE_STEP_MS = 25;

interface Wake {
  readonly atMs: number;
  readonly process: ModelProcess;
  readonly timersFirst: boolean;
}

/** One history, run: three processes, the servers, the network between, and the truth about them. */
export class ModelHistory {
  readonly world = new FakeClock();
  readonly truth = new Truth();
  readonly processes: ModelProcess[];
  readonly violations: Violation[] = [];
  readonly situations = new Set<string>();
  readonly #plan: History;
  readonly #mutation: Mutation;
  #servers = 0;
  #server: ModelRedis;
  #serverShiftUs = SERVER_EPOCH_US;
  #wakes: Wake[] = [];
  /** Processes whose monotonic clock leapt or stood still: what they measure is not so. */
  readonly misled = new Set<number>();
  /** When each process stood still. */
  readonly stops: { process: number; fromMs: number; untilMs: number }[] = [];
  /** False once a server's clock was set: then times of one server no longer compare. */
  judgesOverlaps = true;

  constructor(plan: History, mutation: Mutation = {}) {
    this.#plan = plan;
    this.#mutation = mutation;
    this.#server = this.#makeServer(0);
    this.processes = plan.processes.map((_, index) => this.#makeProcess(index));
  }

  async run(): Promise<void> {
    for (const { step, thenMs } of this.#plan.steps) {
      this.#do(step);
      await this.#pass(thenMs);
      for (const process of this.processes) process.flush();
    }
    await this.#end();
  }

  #makeServer(aheadMs: number): ModelRedis {
    this.#servers += 1;
    const Server = this.#mutation.server ?? ModelRedis;
    const nowUs = () => Math.round((this.world.monoMs() + aheadMs) * 1000) + this.#serverShiftUs;
    return new Server(String(this.#servers).repeat(8), nowUs);
  }

  #makeProcess(index: number): ModelProcess {
    const plan = this.#plan.processes[index];
    if (plan === undefined) throw new Error(`there is no process ${index}`);
    const { world, truth } = this;
    const clock = new ProcessClock(world, plan.originMs);
    const connection = new ModelConnection({
      world,
      clock,
      ...plan,
      server: () => this.#server,
      carry: (server, request, isStray) => this.#carry(server, request, isStray),
      sending: (request, open) => this.#noteSending(request, open, index),
      received: (reply) => truth.receivedMs.set(reply, world.monoMs()),
    });
    const { batches, seed } = this.#plan;
    const parts = { index, plan, seed: seed + 1000 * index, batches, world, truth, clock, connection };
    return new ModelProcess({
      ...parts,
      mutation: this.#mutation,
      onGrant: (hold) => this.#onGrant(hold),
    });
  }

  /** Carries out a command, and notes what is so. */
  #carry(server: ModelRedis, request: Request, isStray: boolean): ScriptReply {
    const { call } = request;
    const key = String(call.args.key);
    const before = { value: server.valueOf(key), endMs: server.endMsOf(key) };
    const reply = server.run(call);
    const endMs = server.endMsOf(key);
    this.truth.carried(server, request, reply, this.world.monoMs(), isStray);
    this.situations.add(`${call.name}: ${reply.word}`);
    if (isStray) this.situations.add(`stray ${call.name}`);
    if (request.sends > 1) this.situations.add(`resent ${call.name}`);
    if (call.name === 'renew' && before.value === undefined && server.valueOf(key) !== undefined)
      this.report('renew_creates', `${key} at ${this.world.monoMs()}`);
    if (call.name === 'renew' && isStray && endMs !== undefined && endMs < (before.endMs ?? 0))
      this.#fault('stray_renewal');
    return reply;
  }

  /** A renewal while an earlier one may still be answered: neither its connection broke nor its time is over. */
  #noteSending({ call }: Request, open: readonly Request[], index: number): void {
    if (call.name !== 'renew' || this.misled.has(index)) return;
    const { commandTimeoutMs } = this.#plan.processes[index] ?? { commandTimeoutMs: 0 };
    const sinceMs = this.world.monoMs() - commandTimeoutMs;
    const { readyAtMs } = this.#process(index).connection;
    const isOpen = ({ call: other, sentAtMs }: Request) =>
      other.name === 'renew' &&
      other.args.token === call.args.token &&
      sentAtMs > sinceMs &&
      sentAtMs !== readyAtMs;
    if (open.some(isOpen)) this.report('renew_twice', `process ${index} at ${this.world.monoMs()}`);
  }

  report(rule: Rule, detail: string): void {
    this.violations.push({ rule, detail });
  }

  /** The client may know of the grant: is there another whose lease is valid? */
  #onGrant(hold: TrueHold): void {
    if (this.#plan.looks) this.look(hold.key);
  }

  look(key: string): void {
    if (this.truth.firstFault !== undefined) return;
    const valid = this.truth.holds.filter(
      (hold) => hold.key === key && !this.#of(hold).clock.isStopped && hold.lease.isValid(),
    );
    if (valid.length > 1)
      this.report('exclusion', `${valid.map(({ owner }) => owner).join(' and ')} at ${this.world.monoMs()}`);
  }

  #of(hold: TrueHold): ModelProcess {
    return this.#process(hold.process);
  }

  #process(index: number): ModelProcess {
    const process = this.processes[index];
    if (process === undefined) throw new Error(`there is no process ${index}`);
    return process;
  }

  #fault(what: string): void {
    this.truth.fault(what, this.world.monoMs());
    this.situations.add(what);
  }

  /** Lets time pass, and stopped processes go on when they are due. */
  async #pass(ms: number): Promise<void> {
    const endMs = this.world.monoMs() + ms;
    for (;;) {
      const wake = this.#wakes.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      await this.world.advance((wake?.atMs ?? endMs) - this.world.monoMs());
      if (wake === undefined) return;
      this.#wakes = this.#wakes.filter((one) => one !== wake);
      const resumed = wake.process.clock.resume(wake.timersFirst);
      if (this.#plan.looks) for (const key of LOCKS) this.look(key);
      await resumed;
    }
  }

  #do(step: Step): void {
    switch (step.kind) {
      case 'acquire': {
        const process = this.#process(step.process);
        process.clock.deliver(() => process.acquire(step, LOCKS[step.lock] ?? ''));
        return;
      }
      case 'release':
      case 'check':
      case 'look':
      case 'commit':
      case 'renew':
      case 'abort':
        this.#touch(step);
        return;
      case 'stop':
      case 'suspend':
        this.#halt(step);
        return;
      case 'cut':
        this.#process(step.process).connection.cut(step.downMs, step.strays);
        this.situations.add(step.strays ? 'cut with strays' : 'cut');
        return;
      case 'jump_wall':
        this.#process(step.process).clock.jumpWall(step.byMs);
        this.situations.add('wall clock set');
        return;
      case 'leap':
        this.#process(step.process).clock.leap(step.byMs);
        this.misled.add(step.process);
        this.situations.add('monotonic clock leapt');
        return;
      case 'close': {
        const process = this.#process(step.process);
        process.clock.deliver(() => process.close(this.#plan.closeMs));
        this.situations.add('closed midway');
        return;
      }
      case 'server_jump':
      case 'steal':
      case 'delete':
      case 'spoil':
      case 'flush':
      case 'failover':
        this.#harm(step);
        return;
      default:
        step satisfies never;
    }
  }

  #touch(step: Step & { pick: number }): void {
    if (step.kind === 'abort') {
      const open = this.processes.flatMap((process) =>
        process.calls.filter((call) => !call.isOver).map((call) => ({ call, process })),
      );
      const found = open[step.pick % open.length];
      if (found !== undefined) this.#abort(found);
      return;
    }
    const holds = this.truth.holds.filter((hold) => step.kind === 'release' || hold.settled === undefined);
    const hold = holds[holds.length - 1 - (step.pick % holds.length)];
    if (hold === undefined) return;
    const process = this.#of(hold);
    process.clock.deliver(() => {
      if (step.kind === 'release') process.release(hold);
      else if (hold.settled !== undefined) return;
      else if (step.kind === 'check') process.check(hold);
      else if (step.kind === 'renew') process.renew(hold, step.leaseMs);
      else if (step.kind === 'commit') hold.lease.committed();
      else hold.lease.isValid();
    });
  }

  #abort({ call, process }: { call: OpenCall; process: ModelProcess }): void {
    process.clock.deliver(() => {
      const { connection } = process;
      if (connection.status !== 'ready') this.situations.add('aborted without a connection');
      else if (connection.isTravelling(process.tokenOf(call))) this.situations.add('aborted while asking');
      else this.situations.add('aborted while pausing');
      call.abort.abort();
    });
  }

  #halt(step: Step & { kind: 'stop' | 'suspend' }): void {
    const process = this.#process(step.process);
    if (process.clock.isStopped) return;
    if (step.kind === 'suspend') {
      process.clock.suspend();
      this.misled.add(step.process);
      this.#fault('suspended');
    } else process.clock.stop();
    this.situations.add('stopped');
    const { timersFirst } = step;
    const fromMs = this.world.monoMs();
    const untilMs = fromMs + step.forMs;
    this.stops.push({ process: step.process, fromMs, untilMs });
    this.#wakes.push({ atMs: untilMs, process, timersFirst });
  }

  #harm(step: Step): void {
    const atMs = this.world.monoMs();
    const key = 'lock' in step ? (LOCKS[step.lock] ?? '') : '';
    switch (step.kind) {
      case 'server_jump':
        this.#serverShiftUs += step.byMs * 1000;
        this.judgesOverlaps = false;
        if (step.byMs > 0) this.#fault('server clock set');
        return;
      case 'steal': {
        const token = `thief-${this.truth.next()}`;
        this.#server.set(key, token, step.leaseMs);
        this.truth.granted({ atMs, server: this.#server, key, token, fence: null, isStray: false });
        break;
      }
      case 'delete':
        this.#server.delete(key);
        break;
      case 'spoil':
        this.#server.set(key, undefined, 300);
        break;
      case 'flush':
        this.#server.flush();
        this.truth.flushed.add(this.#server);
        break;
      case 'failover':
        this.#server = this.#makeServer(step.aheadMs);
        this.processes.forEach((process, index) => {
          if ((step.stays & (1 << index)) === 0) process.connection.cut(step.downMs + index, false);
        });
        break;
      default:
        return;
    }
    this.#fault(step.kind);
  }

  /** Calm: everybody goes on, the network is well, all work settles, all clients close. */
  async #end(): Promise<void> {
    for (const process of this.processes) process.connection.calm();
    const lastWakeMs = Math.max(0, ...this.#wakes.map(({ atMs }) => atMs - this.world.monoMs()));
    await this.#pass(lastWakeMs);
    await this.#settle('calls', (process) => {
      return process.open === 0 && process.client.stats.cleanUps === 0;
    });
    this.#judgeOrphans();
    if (this.#plan.ending === 'release')
      for (const hold of this.truth.holds) if (hold.settled === undefined) this.#of(hold).release(hold);
    if (this.#plan.ending === 'release')
      await this.#settle('releases', (process) => process.client.stats.held === 0);
    for (const process of this.processes) process.close(this.#plan.closeMs);
    await this.#settle('closing', ({ isClosed }) => isClosed);
    // What was under way has its own time limits.
    await this.#settle('timers', ({ clientTimers, open }) => clientTimers === 0 && open === 0, 200);
    for (const process of this.processes) process.flush();
    this.#judgeRest();
  }

  /** Waits until all processes are where they should get by themselves. */
  async #settle(
    what: string,
    isDone: (process: ModelProcess) => boolean,
    stepMs = SETTLE_STEP_MS,
  ): Promise<void> {
    const endMs = this.world.monoMs() + SETTLE_MS;
    while (!this.processes.every(isDone)) {
      if (this.world.monoMs() > endMs) {
        this.report(what === 'timers' ? 'timers' : 'hang', `${what} did not end within ${SETTLE_MS} ms`);
        return;
      }
      await this.#pass(stepMs);
    }
  }

  /** Nobody holds it, nobody asks for it, and nobody is cleaning up: then nothing may be left. */
  #judgeOrphans(): void {
    const held = new Set(
      this.truth.holds.filter(({ settled }) => settled === undefined).map(({ token }) => token),
    );
    for (const key of LOCKS) {
      const token = this.#server.valueOf(key);
      if (token === undefined || held.has(token)) continue;
      const grants = this.truth.grantsOf(token);
      const latest = grants.at(-1);
      // A stray acquire, carried out on a connection that its client had given up, ends with its lease; and a
      // closed client does not wait for its last clean-ups.
      const isGivenUp = this.processes.some(
        (process) => process.owns(token) && process.closing !== undefined,
      );
      const isTravelling = this.processes.some(({ connection }) => connection.isTravelling(token));
      if (token.startsWith('thief') || latest?.isStray || isGivenUp || isTravelling) continue;
      this.report('orphan', `${key} granted at ${latest?.atMs} at ${this.world.monoMs()}`);
    }
  }

  #judgeRest(): void {
    this.processes.forEach(({ open, client }, index) => {
      if (open > 0) this.report('hang', `process ${index}: ${open} promises`);
      const { held, acquiring, cleanUps } = client.stats;
      if (held + acquiring + cleanUps > 0)
        this.report('hang', `process ${index}: ${held} held, ${acquiring} acquiring, ${cleanUps} clean-ups`);
    });
  }
}
