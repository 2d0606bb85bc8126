import type { Random } from '../../../../contract/clock.js';
import type { LockEvent } from '../../../../contract/event.js';
import type { Finding } from '../../../../exporter/ledger/finding.js';
import { LedgerBench } from './batches.js';

/** What a world is made of; drawn by the property test. */
export interface Step {
  /** Time until the next step, in ms. */
  readonly waitMs: number;
  readonly process: number;
  readonly lock: number;
  readonly act: 'acquire' | 'settle' | 'stall' | 'die' | 'delete' | 'failover' | 'drop' | 'rest';
}

/** One hold as it really was. Times are the world's, in ms. */
export interface TrueHold {
  readonly owner: string;
  readonly lock: string;
  readonly fence: number;
  readonly server: string;
  readonly grantMs: number;
  readonly grantUs: number;
  readonly leaseMs: number;
  /** End of the work: it settled, or its process died. */
  endMs: number | undefined;
  /** The server whose clock the release told the end by; undefined: none was told. */
  toldBy: string | undefined;
  /** When the client first knew that it had lost the lock. */
  knewMs: number | undefined;
  /** Whether its reports came through. */
  readonly arrived: Set<'acquire' | 'release'>;
}

/** A finding and when it came, by the world's time. */
export interface Told {
  readonly atMs: number;
  readonly finding: Finding;
}

interface Server {
  readonly id: string;
  readonly skewMs: number;
  readonly keys: Map<string, { owner: string; expiresMs: number }>;
  readonly fences: Map<string, { fence: number; grantUs: number }>;
}

/** A lock client: it holds, works, stalls, reports in order with one batch under way, and may die. */
interface Client {
  readonly name: string;
  readonly ledger: LedgerBench;
  readonly holds: Set<TrueHold>;
  queue: { event: LockEvent; arrive: () => void }[];
  dead: boolean;
  stalledUntilMs: number;
  sending: boolean;
  lastSentMs: number;
  needsSet: boolean;
}

/** Short and long, so that both sides of a lease's end are met. */
const LEASES_MS = [2000, 10_000] as const;
const LOOK_EVERY_MS = 2500;
const WALL_MS = 1_796_000_000_000;

/** One truth: two locks, three processes, Redis servers that follow each other, and one ledger or one for each process. */
export class World {
  readonly holds: TrueHold[] = [];
  readonly told: Told[] = [];
  readonly situations = new Set<string>();
  readonly #skews = new Map<string, number>();
  readonly #random: Random;
  readonly #ledgers: LedgerBench[];
  readonly #clients: Client[];
  readonly #agenda: { atMs: number; order: number; run: () => void }[] = [];
  #server: Server;
  #servers = 1;
  #owners = 0;
  #order = 0;
  #nowMs = 0;

  constructor(random: Random, exporters: 1 | 3) {
    this.#random = random;
    this.#server = this.#newServer();
    this.#ledgers = Array.from({ length: exporters }, () => new LedgerBench());
    this.#clients = [0, 1, 2].map((n) => this.#newClient(n));
    this.#every(1000, () => {
      for (const ledger of this.#ledgers) this.#tell(ledger.ledger.tick(this.#at(ledger)));
    });
    this.#every(LOOK_EVERY_MS, () => this.#look());
    this.#every(200, () => {
      for (const client of this.#clients) this.#live(client);
    });
  }

  run(steps: readonly Step[]): void {
    for (const step of steps) {
      this.#advance(step.waitMs);
      this.#do(step);
    }
    for (const hold of this.holds) if (hold.endMs === undefined) this.#settleLater(hold);
    this.#advance(45_000);
  }

  /** The world's time at which a server's clock showed this. */
  timeOf(serverId: string, us: number): number {
    return us / 1000 - WALL_MS - (this.#skews.get(serverId) ?? 0);
  }

  #do({ act, process, lock }: Step): void {
    const client = this.#clients[process];
    if (!client) return;
    switch (act) {
      case 'acquire':
        if (this.#isAwake(client)) this.#acquire(client, `000000000000000${lock}`);
        return;
      case 'settle':
        for (const hold of client.holds)
          if (this.#isAwake(client) && hold.endMs === undefined) this.#settle(client, hold);
        return;
      case 'stall':
        client.stalledUntilMs = this.#nowMs + 500 + this.#random() * 4000;
        return;
      case 'die':
        this.#die(client, process);
        return;
      case 'delete':
        this.#server.keys.clear();
        return;
      case 'failover':
        this.#failover();
        return;
      case 'drop':
        if (client.queue.length === 0) return;
        client.queue = [];
        client.needsSet = true;
        this.situations.add('events dropped');
        return;
      case 'rest':
        return;
      default:
        act satisfies never;
    }
  }

  #acquire(client: Client, lock: string): void {
    const server = this.#server;
    const key = server.keys.get(lock);
    if (key && key.expiresMs > this.#nowMs) return;
    this.#owners += 1;
    const leaseMs = lock.endsWith('0') ? LEASES_MS[0] : LEASES_MS[1];
    const owner = this.#owners.toString(16).padStart(16, 'a');
    const grantUs = this.#us(server);
    const fence = Math.max((server.fences.get(lock)?.fence ?? 0) + 1, grantUs);
    server.keys.set(lock, { owner, expiresMs: this.#nowMs + leaseMs });
    server.fences.set(lock, { fence, grantUs });
    const hold: TrueHold = {
      owner,
      lock,
      fence,
      server: server.id,
      grantMs: this.#nowMs,
      grantUs,
      leaseMs,
      endMs: undefined,
      toldBy: undefined,
      knewMs: undefined,
      arrived: new Set(),
    };
    for (const other of this.holds) {
      if (other.lock === lock && other.endMs === undefined)
        this.situations.add('granted while another works');
    }
    this.holds.push(hold);
    client.holds.add(hold);
    const grant = { mode: 'wait', waitMs: 1, attempts: 1, leaseMs, watchdog: false } as const;
    this.#report(client, hold, 'acquire', {
      ...this.#of(hold, server),
      ...grant,
      kind: 'acquire',
      outcome: 'acquired',
    });
  }

  /** The work settles; the release is executed a little later, and answered a little after that. */
  #settle(client: Client, hold: TrueHold): void {
    hold.endMs = this.#nowMs;
    const settledMs = this.#nowMs;
    this.#in(this.#random() * 300, () => {
      const server = this.#server;
      const settledUs = this.#us(server, settledMs);
      const key = server.keys.get(hold.lock);
      const own = key?.owner === hold.owner && key.expiresMs > this.#nowMs;
      if (own) server.keys.delete(hold.lock);
      const there = key !== undefined && key.expiresMs > this.#nowMs;
      const outcome = own ? 'released' : there ? 'stolen' : 'expired';
      const latest = server.fences.get(hold.lock);
      // The fence key may be gone: then only the two reports tell.
      const known =
        own || !latest || this.#random() < 0.3
          ? {}
          : { latestFence: latest.fence, latestGrantUs: latest.grantUs };
      const event = {
        ...this.#of(hold, server),
        ...known,
        kind: 'release',
        outcome,
        holdMs: settledMs - hold.grantMs,
        leaseMs: hold.leaseMs,
        renewals: 0,
        peakUse: 1,
        lost: !own,
        settledUs,
        loopDelayMs: 0,
      } as LockEvent;
      // Until the answer is here, the client reports the hold though Redis has let go.
      this.#in(this.#random() * 1000, () => {
        client.holds.delete(hold);
        hold.toldBy = server.id;
        if (!client.dead) this.#report(client, hold, 'release', event);
      });
    });
  }

  #settleLater(hold: TrueHold): void {
    const client = this.#clients.find((one) => one.holds.has(hold));
    if (client)
      this.#in(5000 + this.#random() * 3000, () => hold.endMs === undefined && this.#settle(client, hold));
  }

  #die(client: Client, at: number): void {
    client.dead = true;
    if (client.holds.size > 0) this.situations.add('died while holding');
    for (const hold of client.holds) hold.endMs ??= this.#nowMs;
    this.#clients[at] = this.#newClient(at);
  }

  #failover(): void {
    const old = this.#server;
    this.#server = this.#newServer();
    const replicated = this.#random() < 0.5;
    for (const [lock, fence] of old.fences) if (replicated) this.#server.fences.set(lock, fence);
    for (const [lock, key] of old.keys) if (replicated) this.#server.keys.set(lock, key);
    if (!replicated && old.keys.size > 0) this.situations.add('failover that loses keys');
  }

  #live(client: Client): void {
    if (!this.#isAwake(client)) return;
    for (const hold of client.holds) {
      if (hold.knewMs !== undefined || hold.endMs !== undefined || this.#nowMs < hold.grantMs + hold.leaseMs)
        continue;
      hold.knewMs = this.#nowMs;
      const loss = {
        by: 'deadline',
        sinceGrantMs: this.#nowMs - hold.grantMs,
        leaseMs: hold.leaseMs,
        loopDelayMs: 0,
      } as const;
      const { serverUs: _, ...of } = this.#of(hold, this.#server);
      this.#report(client, hold, undefined, { ...of, ...loss, kind: 'lost' });
    }
    const beat = client.holds.size > 0 && this.#nowMs - client.lastSentMs >= 1000;
    if (!client.sending && (client.queue.length > 0 || beat)) this.#send(client);
  }

  /** One batch under way at a time: the next is built after this one was answered. */
  #send(client: Client): void {
    client.sending = true;
    client.lastSentMs = this.#nowMs;
    const events = client.queue.splice(0);
    const serverId = this.#server.id;
    const inSet = client.needsSet ? [...client.holds] : undefined;
    const set = inSet?.map((hold) => this.#asReported(hold));
    client.needsSet = false;
    const delayMs = this.#random() < 0.2 ? this.#random() * 4000 : this.#random() * 50;
    if (delayMs > 1000) this.situations.add('a batch came late');
    this.#in(delayMs, () => {
      this.#at(client.ledger);
      const sent = { events: events.map(({ event }) => event), serverId, ...(set ? { holds: set } : {}) };
      this.#tell(client.ledger.send(client.name, sent));
      for (const { arrive } of events) arrive();
      for (const hold of inSet ?? []) hold.arrived.add('acquire');
      this.#in(this.#random() * 20, () => {
        client.sending = false;
      });
    });
  }

  #look(): void {
    const server = this.#server;
    const serverUs = this.#us(server);
    const looks = ['0000000000000000', '0000000000000001'].map((lock) => {
      const key = server.keys.get(lock);
      const common = { lock, resource: 'stock', serverUs, serverId: server.id } as const;
      if (!key || key.expiresMs <= this.#nowMs) return { ...common, state: 'gone' } as const;
      const leftMs = key.expiresMs - this.#nowMs;
      return { ...common, state: 'there', owner: key.owner, leftMs } as const;
    });
    for (const ledger of this.#ledgers) {
      this.#in(this.#random() * 300, () => {
        this.#at(ledger);
        this.#tell(ledger.look(...looks));
      });
    }
  }

  #report(client: Client, hold: TrueHold, what: 'acquire' | 'release' | undefined, event: LockEvent): void {
    client.queue.push({
      event,
      arrive: () => {
        if (what) hold.arrived.add(what);
      },
    });
  }

  #of(hold: TrueHold, server: Server) {
    const { owner, lock, fence } = hold;
    const common = { atMs: WALL_MS, resource: 'stock', lock, owner, fence };
    return { ...common, serverUs: this.#us(server), serverId: server.id };
  }

  #asReported({ owner, lock, fence, server, grantUs, grantMs, leaseMs }: TrueHold) {
    const leftMs = Math.max(0, grantMs + leaseMs - this.#nowMs);
    return { owner, lock, resource: 'stock', fence, serverId: server, grantUs, leaseMs, leftMs, renewals: 0 };
  }

  #isAwake(client: Client): boolean {
    return !client.dead && client.stalledUntilMs <= this.#nowMs;
  }

  #newServer(): Server {
    const id = `s${this.#servers}`;
    const skewMs = this.#servers === 1 ? 0 : (this.#random() - 0.5) * 4000;
    this.#servers += 1;
    this.#skews.set(id, skewMs);
    return { id, skewMs, keys: new Map(), fences: new Map() };
  }

  #newClient(at: number): Client {
    const ledger = this.#ledgers[at % this.#ledgers.length];
    if (!ledger) throw new Error('a world has at least one exporter');
    this.#owners += 1;
    return {
      name: `process-${at}-${this.#owners}`,
      ledger,
      holds: new Set(),
      queue: [],
      dead: false,
      stalledUntilMs: 0,
      sending: false,
      lastSentMs: -1000,
      needsSet: true,
    };
  }

  /** Redis's clock, in whole µs. */
  #us(server: Server, atMs: number = this.#nowMs): number {
    return Math.floor((WALL_MS + atMs + server.skewMs) * 1000);
  }

  #at(ledger: LedgerBench): number {
    ledger.nowMs = 10_000 + this.#nowMs;
    return ledger.nowMs;
  }

  #tell(findings: readonly Finding[]): void {
    for (const finding of findings) this.told.push({ atMs: this.#nowMs, finding });
  }

  #every(ms: number, run: () => void): void {
    this.#in(ms, () => {
      run();
      this.#every(ms, run);
    });
  }

  #in(ms: number, run: () => void): void {
    this.#order += 1;
    this.#agenda.push({ atMs: this.#nowMs + ms, order: this.#order, run });
  }

  #advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      let next = this.#agenda[0];
      for (const item of this.#agenda) {
        if (next && (item.atMs < next.atMs || (item.atMs === next.atMs && item.order < next.order)))
          next = item;
      }
      if (!next || next.atMs > untilMs) break;
      this.#agenda.splice(this.#agenda.indexOf(next), 1);
      this.#nowMs = next.atMs;
      next.run();
    }
    this.#nowMs = untilMs;
  }
}
