import type { Random } from '../../../../../contract/clock.js';
import type { Agenda } from './agenda.js';

/** The world's times are these wall times. */
export const WALL_MS = 1_796_000_000_000;
const US_PER_MS = 1000;

/** How the fences of a lock are made: by Redis's clock, by counting as other libraries do, or not at all. */
export type Fencing = 'clock' | 'count' | 'none';

/** What an answer that is not owned tells of the latest grant. */
export interface Latest {
  readonly latestFence?: number;
  readonly latestGrantUs?: number;
}

/** An answer to a holder. */
export interface Answer {
  readonly outcome: 'own' | 'expired' | 'stolen';
  readonly serverUs: number;
  readonly latest: Latest;
}

/** A key as a look sees it. */
export interface SeenLock {
  readonly lock: string;
  readonly owner: string;
  readonly leftMs: number;
  readonly expiresUs: number;
  readonly seenUs: number;
}

/** One Redis process with a clock of its own. */
export class Server {
  readonly id: string;
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #skewMs: number;
  readonly #keys = new Map<string, { owner: string; expiresUs: number }>();
  readonly #fences = new Map<string, { fence: number; grantUs: number }>();

  constructor(id: string, skewMs: number, agenda: Agenda, random: Random) {
    this.id = id;
    this.#skewMs = skewMs;
    this.#agenda = agenda;
    this.#random = random;
  }

  /** Its clock, in whole µs. */
  us(atMs: number = this.#agenda.nowMs): number {
    return Math.floor((WALL_MS + atMs + this.#skewMs) * US_PER_MS);
  }

  /** The world's time at which its clock showed this. */
  timeOf(us: number): number {
    return us / US_PER_MS - WALL_MS - this.#skewMs;
  }

  /** Undefined: another has the lock. */
  acquire(lock: string, owner: string, leaseMs: number, fencing: Fencing) {
    if (this.ownerOf(lock) !== undefined) return undefined;
    const grantUs = this.us();
    this.#keys.set(lock, { owner, expiresUs: grantUs + leaseMs * US_PER_MS });
    if (fencing === 'none') return { grantUs, fence: undefined };
    const next = (this.#fences.get(lock)?.fence ?? 0) + 1;
    const fence = fencing === 'clock' ? Math.max(next, grantUs) : next;
    this.#fences.set(lock, { fence, grantUs });
    return { grantUs, fence };
  }

  renew(lock: string, owner: string, leaseMs: number): Answer {
    const answer = this.check(lock, owner);
    if (answer.outcome === 'own') this.#keys.set(lock, { owner, expiresUs: this.us() + leaseMs * US_PER_MS });
    return answer;
  }

  release(lock: string, owner: string): Answer {
    const answer = this.check(lock, owner);
    if (answer.outcome === 'own') this.#keys.delete(lock);
    return answer;
  }

  check(lock: string, owner: string): Answer {
    const serverUs = this.us();
    const found = this.ownerOf(lock);
    if (found === owner) return { outcome: 'own', serverUs, latest: {} };
    return { outcome: found === undefined ? 'expired' : 'stolen', serverUs, latest: this.#latestOf(lock) };
  }

  ownerOf(lock: string): string | undefined {
    const key = this.#keys.get(lock);
    return key && key.expiresUs > this.us() ? key.owner : undefined;
  }

  look(): SeenLock[] {
    const seenUs = this.us();
    return [...this.#keys].flatMap(([lock, { owner, expiresUs }]) => {
      const leftMs = Math.floor((expiresUs - seenUs) / US_PER_MS);
      return expiresUs > seenUs ? { lock, owner, expiresUs, seenUs, leftMs } : [];
    });
  }

  deleteKeys(): void {
    this.#keys.clear();
  }

  flush(): void {
    this.#keys.clear();
    this.#fences.clear();
  }

  /** Takes over what another has: expiries by the other's clock, as replication does it. */
  copy(other: Server): void {
    for (const [lock, key] of other.#keys) this.#keys.set(lock, key);
    for (const [lock, fence] of other.#fences) this.#fences.set(lock, fence);
  }

  /** The fence key may be gone: then only the reports of two clients tell. */
  #latestOf(lock: string): Latest {
    const latest = this.#fences.get(lock);
    if (!latest || this.#random() < 0.3) return {};
    return { latestFence: latest.fence, latestGrantUs: latest.grantUs };
  }
}

/** Redis servers that follow each other as the master. */
export class Redis {
  readonly servers: Server[] = [];
  readonly #agenda: Agenda;
  readonly #random: Random;

  constructor(agenda: Agenda, random: Random) {
    this.#agenda = agenda;
    this.#random = random;
    this.#start(0);
  }

  get master(): Server {
    const master = this.servers.at(-1);
    if (!master) throw new Error('there is always a master');
    return master;
  }

  serverOf(id: string): Server | undefined {
    return this.servers.find((server) => server.id === id);
  }

  /** Another server becomes the master. Says whether it has the keys of the old one. */
  failOver(): boolean {
    const old = this.master;
    this.#start((this.#random() - 0.5) * 4000);
    const replicated = this.#random() < 0.5;
    if (replicated) this.master.copy(old);
    return replicated;
  }

  #start(skewMs: number): void {
    this.servers.push(
      new Server(`s${String(this.servers.length + 1).padStart(2, '0')}`, skewMs, this.#agenda, this.#random),
    );
  }
}
