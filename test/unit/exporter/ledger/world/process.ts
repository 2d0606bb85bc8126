import type { Hold } from '../../../../../contract/batch.js';
import type { Random } from '../../../../../contract/clock.js';
import type { LockEvent } from '../../../../../contract/event.js';
import type { Agenda } from './agenda.js';
import { Emitter, type Source } from './emitter.js';
import type { Exporter, Records } from './exporter.js';
import { type Answer, type Fencing, type Server, WALL_MS } from './redis.js';
import type { Arrival, TrueHold } from './truth.js';

/**
 * What clients know of the servers: their ids; nothing, where INFO is forbidden; or not even that two answers are of one
 * server, on a cluster.
 */
export type Ids = 'known' | 'hidden' | 'cluster';

/** What a process lives in. */
export interface Surroundings {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly records: Records;
  readonly ids: Ids;
  readonly holds: TrueHold[];
}

/** How a lock is taken. */
export interface Request {
  readonly lock: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly fencing: Fencing;
  readonly watchdog: boolean;
}

/** After a release that failed, or a goodbye, a watchdog that runs on renews for so long. */
const ZOMBIE_MS = 25_000;

/** One process with a lock client: it holds, works, renews, stalls, reports, and may die or leave. */
export class Process implements Source {
  readonly name: string;
  readonly holds = new Set<TrueHold>();
  readonly emitter: Emitter;
  readonly #world: Surroundings;
  readonly #renewing = new Set<TrueHold>();
  #server: Server;
  #gone = false;
  #leaving = false;
  #stalledUntilMs = 0;

  constructor(name: string, server: Server, exporter: Exporter, world: Surroundings) {
    this.name = name;
    this.#server = server;
    this.#world = world;
    this.emitter = new Emitter(this, exporter, world);
  }

  get awake(): boolean {
    return !this.#gone && this.#stalledUntilMs <= this.#world.agenda.nowMs;
  }

  /** Takes no more locks. */
  get ended(): boolean {
    return this.#gone || this.#leaving;
  }

  get serverId(): string | undefined {
    return this.#world.ids === 'known' ? this.#server.id : undefined;
  }

  reports(): Hold[] {
    return [...this.holds].map((hold) => this.#asReported(hold));
  }

  connect(server: Server): void {
    if (!this.#gone) this.#server = server;
  }

  stall(ms: number): void {
    this.#stalledUntilMs = this.#world.agenda.nowMs + ms;
  }

  die(): void {
    this.#gone = true;
    if (this.holds.size > 0) this.#world.records.note('died while holding');
    for (const hold of this.holds) hold.endMs ??= this.#world.agenda.nowMs;
  }

  /** Ends in order without giving back what it holds. @param runsOn its watchdog goes on */
  leave(runsOn: boolean): void {
    const { nowMs } = this.#world.agenda;
    this.#leaving = true;
    if (this.holds.size > 0) this.#world.records.note('said goodbye while holding');
    for (const hold of this.holds) {
      hold.endMs ??= nowMs;
      hold.gaveUpMs ??= nowMs;
      if (runsOn && hold.watchdog) this.#runOn(hold, nowMs + ZOMBIE_MS);
    }
    this.emitter.close([...this.holds].map(({ owner }) => owner));
  }

  acquire({ lock, owner, leaseMs, fencing, watchdog }: Request): void {
    const { agenda, holds } = this.#world;
    const grant = this.#server.acquire(lock, owner, leaseMs, fencing);
    if (!grant) return;
    const hold: TrueHold = {
      ...{ owner, lock, leaseMs, watchdog, ...grant },
      producer: this.name,
      server: this.#server.id,
      grantMs: agenda.nowMs,
      deadlineMs: agenda.nowMs + leaseMs,
      endMs: undefined,
      toldBy: undefined,
      knewMs: undefined,
      gaveUpMs: undefined,
      lateRenewalsMs: [],
    };
    this.#noteGrant(hold);
    holds.push(hold);
    this.holds.add(hold);
    const request = { mode: 'wait', waitMs: 1, attempts: 1, leaseMs, watchdog } as const;
    this.#report(hold, { ...request, kind: 'acquire', outcome: 'acquired', serverUs: grant.grantUs }, [
      'acquire',
    ]);
  }

  /** What a process does a few times a second. */
  live(): void {
    if (!this.awake) return;
    for (const hold of this.holds) if (this.#works(hold)) this.#keep(hold);
    this.emitter.pump(this.holds.size > 0);
  }

  /**
   * The work settles; the release is executed a little later, and answered a little after that. @param fails it is not executed
   * @param runsOn and the watchdog goes on
   */
  settle(hold: TrueHold, fails: boolean, runsOn = false): void {
    const { agenda, random, records } = this.#world;
    if (hold.endMs !== undefined) return;
    const settledMs = agenda.nowMs;
    hold.endMs = settledMs;
    hold.gaveUpMs = settledMs;
    if (runsOn) this.#runOn(hold, settledMs + ZOMBIE_MS);
    if (fails) records.note('a release failed');
    agenda.in(random() * 300, () => {
      const server = this.#server;
      const answer = fails ? undefined : server.release(hold.lock, hold.owner);
      // Until the answer is here, the client reports the hold though Redis has let go.
      this.#whenAwake(random() * 1000, () => this.#released(hold, server, answer));
    });
  }

  #released(hold: TrueHold, server: Server, answer: Answer | undefined): void {
    const { endMs = 0 } = hold;
    if (this.#leaving) return;
    this.holds.delete(hold);
    const tellsEnd = this.#world.ids !== 'cluster' && (answer !== undefined || this.#world.random() < 0.5);
    if (tellsEnd && this.#world.ids === 'known') hold.toldBy = server.id;
    const settledUs = server.us(endMs);
    const outcome = answer?.outcome === 'own' ? 'released' : (answer?.outcome ?? 'error');
    const work = {
      holdMs: endMs - hold.grantMs,
      leaseMs: hold.leaseMs,
      renewals: 0,
      peakUse: 1,
      loopDelayMs: 0,
    };
    const latest = answer?.latest ?? {};
    const isProof =
      tellsEnd && isLater(hold, latest.latestFence) && (latest.latestGrantUs ?? settledUs) < settledUs;
    const event = {
      ...{ ...work, ...latest, kind: 'release', outcome, lost: outcome !== 'released' },
      ...(answer ? { serverUs: answer.serverUs } : { reason: 'connection' }),
      ...(tellsEnd ? { settledUs } : {}),
    };
    this.#report(hold, event, isProof ? ['release', 'proof'] : ['release'], server);
  }

  #works(hold: TrueHold): boolean {
    return hold.endMs === undefined && hold.knewMs === undefined;
  }

  /** Looks after a hold whose work is on. */
  #keep(hold: TrueHold): void {
    const { agenda, random, records } = this.#world;
    const { deadlineMs, leaseMs } = hold;
    if (agenda.nowMs >= deadlineMs) {
      records.note('lost by deadline');
      this.#lose(hold, 'deadline', undefined);
    } else if (hold.watchdog && agenda.nowMs >= deadlineMs - (leaseMs * 2) / 3) this.#renew(hold);
    else if (random() < 0.02) this.#check(hold);
  }

  #renew(hold: TrueHold): void {
    const { agenda } = this.#world;
    if (this.#renewing.has(hold)) return;
    this.#renewing.add(hold);
    const sentMs = agenda.nowMs;
    this.#ask(
      hold,
      (server) => this.#renewOn(server, hold),
      (answer, server) => {
        this.#renewing.delete(hold);
        if (!this.#works(hold)) return;
        const isOwn = answer.outcome === 'own';
        const facts = { leaseMs: hold.leaseMs, leftMs: 1, lateMs: 0, serverUs: answer.serverUs };
        const outcome = isOwn ? 'renewed' : answer.outcome;
        this.#report(
          hold,
          { ...facts, ...answer.latest, kind: 'renew', outcome },
          tellsOf(hold, answer),
          server,
        );
        if (!isOwn) this.#lose(hold, 'renew', answer, server);
        else {
          hold.deadlineMs = sentMs + hold.leaseMs;
          this.#world.records.note('renewed');
        }
      },
    );
  }

  #check(hold: TrueHold): void {
    this.#ask(
      hold,
      (server) => server.check(hold.lock, hold.owner),
      (answer, server) => {
        if (!this.#works(hold)) return;
        const isOwn = answer.outcome === 'own';
        const outcome = isOwn ? 'held' : answer.outcome;
        const event = { ...answer.latest, kind: 'check', outcome, serverUs: answer.serverUs };
        this.#report(hold, event, tellsOf(hold, answer), server);
        if (!isOwn) this.#lose(hold, 'check', answer, server);
      },
    );
  }

  /** A command takes its time to be executed, and again to be answered. */
  #ask(
    hold: TrueHold,
    command: (server: Server) => Answer,
    answered: (answer: Answer, server: Server) => void,
  ): void {
    const { agenda, random } = this.#world;
    agenda.in(random() * 100, () => {
      const server = this.#server;
      const answer = command(server);
      if (answer.outcome !== 'own' && this.#works(hold))
        this.#world.records.note(`answered ${answer.outcome}`);
      this.#whenAwake(random() * 100, () => answered(answer, server));
    });
  }

  #lose(
    hold: TrueHold,
    by: 'deadline' | 'renew' | 'check',
    answer: Answer | undefined,
    server?: Server,
  ): void {
    const { nowMs } = this.#world.agenda;
    hold.knewMs = nowMs;
    const facts = { by, sinceGrantMs: nowMs - hold.grantMs, leaseMs: hold.leaseMs, loopDelayMs: 0 };
    const told = answer ? { ...answer.latest, serverUs: answer.serverUs } : {};
    this.#report(hold, { ...facts, ...told, kind: 'lost' }, ['lost'], server);
  }

  /** A watchdog that nobody stopped. */
  #runOn(hold: TrueHold, untilMs: number): void {
    const { agenda, records } = this.#world;
    agenda.in(hold.leaseMs / 3, () => {
      if (agenda.nowMs > untilMs || this.#renewOn(this.#server, hold).outcome !== 'own') return;
      records.note('a watchdog ran on');
      this.#runOn(hold, untilMs);
    });
  }

  #renewOn(server: Server, hold: TrueHold): Answer {
    const answer = server.renew(hold.lock, hold.owner, hold.leaseMs);
    const late = answer.outcome === 'own' && hold.gaveUpMs !== undefined;
    if (late) hold.lateRenewalsMs.push(this.#world.agenda.nowMs);
    return answer;
  }

  #whenAwake(ms: number, act: () => void): void {
    const { agenda } = this.#world;
    agenda.in(ms, () => {
      if (this.#gone) return;
      if (this.awake) act();
      else this.#whenAwake(this.#stalledUntilMs - agenda.nowMs, act);
    });
  }

  #report(hold: TrueHold, event: object, tells: readonly Arrival[], server = this.#server): void {
    const { owner, lock, fence } = hold;
    const of = { atMs: WALL_MS, resource: 'stock', lock, owner, ...(fence === undefined ? {} : { fence }) };
    const isTimed = 'serverUs' in event || 'settledUs' in event;
    const where = this.#world.ids === 'known' && isTimed ? { serverId: server.id } : {};
    this.emitter.report({ event: { ...of, ...where, ...event } as LockEvent, owner, tells });
  }

  #asReported({ owner, lock, fence, server, grantUs, leaseMs, deadlineMs, knewMs }: TrueHold): Hold {
    const leftMs = knewMs === undefined ? Math.max(0, Math.round(deadlineMs - this.#world.agenda.nowMs)) : 0;
    const where = this.#world.ids === 'known' ? { serverId: server } : {};
    return { owner, lock, resource: 'stock', fence, grantUs, leaseMs, leftMs, renewals: 0, ...where };
  }

  #noteGrant({ lock, fence }: TrueHold): void {
    const { holds, records } = this.#world;
    if (fence === undefined) records.note('taken without a fence');
    if (holds.some((other) => other.lock === lock && other.endMs === undefined))
      records.note('granted while another works');
  }
}

function tellsOf(hold: TrueHold, { outcome, latest }: Answer): Arrival[] {
  if (outcome === 'own') return [];
  return isLater(hold, latest.latestFence) ? ['lost', 'proof'] : ['lost'];
}

function isLater({ fence }: TrueHold, latest: number | undefined): boolean {
  return fence !== undefined && latest !== undefined && latest > fence;
}
