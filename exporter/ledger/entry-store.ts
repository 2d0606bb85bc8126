import { digestOf, highWord, lowWord } from './digest-words.js';
import type { TimelineEntry } from './timeline.js';

/** Who told an entry. One object for all entries of a batch. */
export interface EntrySource {
  readonly producer: string | undefined;
  readonly app: string | undefined;
  readonly instance: string | undefined;
}

/** What an entry tells besides. */
export type EntryFacts = Omit<TimelineEntry, keyof EntrySource>;

/** Places of an entry's numbers and texts. */
const NUMBER = {
  serverUs: 0,
  atMs: 1,
  fence: 2,
  latestFence: 3,
  latestGrantUs: 4,
  settledUs: 5,
  leaseMs: 6,
  spanMs: 7,
  attempts: 8,
  loopDelayMs: 9,
} as const;
const NUMBERS = Object.keys(NUMBER).length;
/** Each shared by many entries: a text of its own would outlive the batch that brought it. */
const TEXT = { outcome: 0, reason: 1, serverId: 2 } as const;
const TEXTS = Object.keys(TEXT).length;
/** Room at the beginning, in entries; it doubles as often as needed. */
const FIRST_ROOM = 256;
const NONE = -1;
const OWNER_WORDS = 2;

/** A list of entries in the store. */
export interface EntryList {
  oldest: number;
  newest: number;
  size: number;
}

/**
 * Timeline entries in a few large arrays. As objects, 300 bytes each, they outlived two scavenges before they were
 * forgotten, and their copying and marking took a good part of ingest's time; here an entry takes 130 bytes and
 * nothing is created for it.
 */
export class EntryStore {
  #numbers = new Float64Array(FIRST_ROOM * NUMBERS);
  #next = new Int32Array(FIRST_ROOM);
  /** Two words of each owner digest; zeros for none, which no digest is but for a chance of 1 to 2^64. */
  #owners = new Int32Array(FIRST_ROOM * OWNER_WORDS);
  readonly #kinds: TimelineEntry['kind'][] = [];
  readonly #texts: (string | undefined)[] = [];
  readonly #sources: (EntrySource | undefined)[] = [];
  #used = 0;
  /** Places that were given back, linked. */
  #free = NONE;
  #lastServerId: string | undefined = undefined;

  /** Adds an entry as the newest of a list. */
  add(list: EntryList, facts: EntryFacts, source: EntrySource): void {
    const at = this.#takePlace();
    this.#write(at, facts, source);
    if (list.size === 0) list.oldest = at;
    else this.#next[list.newest] = at;
    list.newest = at;
    list.size += 1;
  }

  /** Takes the oldest entry from a list that has one. */
  dropOldest(list: EntryList): void {
    const at = list.oldest;
    list.oldest = this.#next[at] ?? NONE;
    list.size -= 1;
    this.#sources[at] = undefined;
    this.#next[at] = this.#free;
    this.#free = at;
  }

  /** The entries of a list, the oldest first. */
  read(list: EntryList): TimelineEntry[] {
    const entries: TimelineEntry[] = [];
    let at = list.oldest;
    for (let read = 0; read < list.size; read += 1) {
      entries.push(this.#read(at));
      at = this.#next[at] ?? NONE;
    }
    return entries;
  }

  /** Gives a finding another time and other side, should its list still have it. */
  moveFinding(
    list: EntryList,
    kind: TimelineEntry['kind'],
    owner: string,
    serverUs: number,
    other: { readonly fence: number | undefined; readonly grantUs: number | undefined } | undefined,
  ): void {
    let at = list.oldest;
    for (let read = 0; read < list.size; read += 1) {
      if (this.#kinds[at] === kind && this.#readOwner(at) === owner) {
        const number = at * NUMBERS;
        this.#numbers[number + NUMBER.serverUs] = serverUs;
        this.#numbers[number + NUMBER.latestFence] = other?.fence ?? Number.NaN;
        this.#numbers[number + NUMBER.latestGrantUs] = other?.grantUs ?? Number.NaN;
      }
      at = this.#next[at] ?? NONE;
    }
  }

  #takePlace(): number {
    const at = this.#free;
    if (at !== NONE) {
      this.#free = this.#next[at] ?? NONE;
      return at;
    }
    if (this.#used === this.#next.length) this.#grow();
    this.#used += 1;
    return this.#used - 1;
  }

  #grow(): void {
    const room = 2 * this.#next.length;
    const [numbers, next] = [new Float64Array(room * NUMBERS), new Int32Array(room)];
    const owners = new Int32Array(room * OWNER_WORDS);
    numbers.set(this.#numbers);
    next.set(this.#next);
    owners.set(this.#owners);
    this.#numbers = numbers;
    this.#next = next;
    this.#owners = owners;
  }

  #write(at: number, facts: EntryFacts, source: EntrySource): void {
    // Nearly all name the same server: one text for all of them.
    if (facts.serverId !== this.#lastServerId) this.#lastServerId = facts.serverId;
    this.#kinds[at] = facts.kind;
    this.#sources[at] = source;
    const texts = this.#texts;
    const text = at * TEXTS;
    texts[text + TEXT.outcome] = facts.outcome;
    texts[text + TEXT.reason] = facts.reason;
    texts[text + TEXT.serverId] = this.#lastServerId;
    this.#owners[at * OWNER_WORDS] = facts.owner === undefined ? 0 : highWord(facts.owner);
    this.#owners[at * OWNER_WORDS + 1] = facts.owner === undefined ? 0 : lowWord(facts.owner);
    const numbers = this.#numbers;
    const number = at * NUMBERS;
    numbers[number + NUMBER.serverUs] = facts.serverUs ?? Number.NaN;
    numbers[number + NUMBER.atMs] = facts.atMs;
    numbers[number + NUMBER.fence] = facts.fence ?? Number.NaN;
    numbers[number + NUMBER.latestFence] = facts.latestFence ?? Number.NaN;
    numbers[number + NUMBER.latestGrantUs] = facts.latestGrantUs ?? Number.NaN;
    numbers[number + NUMBER.settledUs] = facts.settledUs ?? Number.NaN;
    numbers[number + NUMBER.leaseMs] = facts.leaseMs ?? Number.NaN;
    numbers[number + NUMBER.spanMs] = facts.spanMs ?? Number.NaN;
    numbers[number + NUMBER.attempts] = facts.attempts ?? Number.NaN;
    numbers[number + NUMBER.loopDelayMs] = facts.loopDelayMs ?? Number.NaN;
  }

  #readOwner(at: number): string | undefined {
    const [high, low] = [this.#owners[at * OWNER_WORDS] ?? 0, this.#owners[at * OWNER_WORDS + 1] ?? 0];
    return high === 0 && low === 0 ? undefined : digestOf(high, low);
  }

  #read(at: number): TimelineEntry {
    const text = (name: keyof typeof TEXT) => this.#texts[at * TEXTS + TEXT[name]];
    const number = (name: keyof typeof NUMBER) => {
      const value = this.#numbers[at * NUMBERS + NUMBER[name]] ?? Number.NaN;
      return Number.isNaN(value) ? undefined : value;
    };
    const { producer, app, instance } = this.#sources[at] ?? NOBODY;
    return {
      kind: this.#kinds[at] ?? 'commit',
      outcome: text('outcome'),
      reason: text('reason'),
      serverUs: number('serverUs'),
      serverId: text('serverId'),
      atMs: number('atMs') ?? 0,
      owner: this.#readOwner(at),
      fence: number('fence'),
      latestFence: number('latestFence'),
      latestGrantUs: number('latestGrantUs'),
      settledUs: number('settledUs'),
      leaseMs: number('leaseMs'),
      spanMs: number('spanMs'),
      attempts: number('attempts'),
      loopDelayMs: number('loopDelayMs'),
      producer,
      app,
      instance,
    };
  }
}

const NOBODY: EntrySource = Object.freeze({ producer: undefined, app: undefined, instance: undefined });
