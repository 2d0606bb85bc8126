import type { Hold } from '../../contract/batch.js';
import type { LockEvent } from '../../contract/event.js';
import { lockId } from '../../contract/lock-id.js';

/** A key that a client of this exporter believes to hold. */
export interface HeldKey {
  /** Lock id. */
  readonly lock: string;
  readonly resource: string;
  /** The key with one character per byte (`latin1`): as a Buffer it takes four times as much. */
  readonly keyBytes: string;
}

/** How full the table of held keys is. */
export interface HeldKeysSize {
  readonly keys: number;
  /** Forgotten for want of room, since the start. */
  readonly evicted: number;
  /** Refused because the key is not the one that the lock id names, since the start. */
  readonly refused: number;
}

/** Live locks that the memory bar is meant for; some 120 bytes each besides the texts that the ledger keeps too. */
const MAX_KEYS = 100_000;
/** More holders of one lock at a time are a sign of forged events. */
const MAX_OWNERS = 16;
/** A key that was gone for so many looks is of no further interest: its holder is dead, or will say so itself. */
const MAX_GONE_LOOKS = 12;
/** Stands in the place of a number of looks: the key was not looked at, and its text is base64 still. */
const UNREAD = -1;
/** More texts are not shared: names of resources are few. */
const MAX_SHARED_TEXTS = 1024;
/** Places of a row's texts. */
const OWNER = 0;
const RESOURCE = 1;
const KEY = 2;
const TEXTS = 3;

/** What begins a hold. */
interface HoldFacts {
  readonly lock: string;
  readonly owner: string;
  readonly resource: string;
  readonly keyBase64?: string | undefined;
}

/**
 * The keys that clients hold, by their own word, from events and reported holds. Bounded: the longest known goes
 * first. Nothing of it is shown or logged.
 *
 * In flat arrays, a row for each key: with an object, a Set of owners, a Buffer and a map entry of its own a key took
 * 638 bytes.
 */
export class HeldKeys {
  readonly #store: string;
  readonly #maxKeys: number;
  readonly #rows = new Map<string, number>();
  readonly #texts: (string | undefined)[] = [];
  /** Looks since the key was there last. */
  readonly #goneLooks: number[] = [];
  /** Of the few locks that more than one believes to hold: the others. */
  readonly #others = new Map<number, Set<string>>();
  readonly #free: number[] = [];
  readonly #resources = new Map<string, string>();
  #evicted = 0;
  #refused = 0;

  constructor(store: string, maxKeys: number = MAX_KEYS) {
    this.#store = store;
    this.#maxKeys = Math.max(1, maxKeys);
  }

  /** Takes an accepted event; only those that begin or end a hold matter. Never throws. */
  applyEvent(event: LockEvent): void {
    if (event.kind === 'acquire' && event.outcome === 'acquired') this.#hold(event);
    else if (event.kind === 'release') this.#release(event.lock, event.owner);
  }

  /** Takes holds that a client reported. Never throws. */
  applyHolds(holds: readonly Hold[]): void {
    for (const hold of holds) this.#hold(hold);
  }

  /** The keys to look at. Call it once for a look: what cannot be a key of its lock is dropped here. */
  takeStock(): HeldKey[] {
    const stock: HeldKey[] = [];
    for (const [lock, row] of this.#rows) {
      const isRead = this.#goneLooks[row] !== UNREAD || this.#readKey(lock, row);
      if (isRead) stock.push({ lock, resource: this.#text(row, RESOURCE), keyBytes: this.#text(row, KEY) });
      else this.#drop(lock, row);
    }
    return stock;
  }

  /** Takes in what a look found. */
  note({ lock }: HeldKey, isThere: boolean): void {
    const row = this.#rows.get(lock);
    const goneLooks = row === undefined ? UNREAD : (this.#goneLooks[row] ?? UNREAD);
    // Released, and perhaps taken again, since the look began.
    if (row === undefined || goneLooks === UNREAD) return;
    this.#goneLooks[row] = isThere ? 0 : goneLooks + 1;
    if (!isThere && goneLooks + 1 >= MAX_GONE_LOOKS) this.#drop(lock, row);
  }

  /** The resource that a client gave the lock of this key, if one holds it. Takes 2 µs, to name the lock. */
  resourceOf(key: Buffer): string | undefined {
    if (this.#rows.size === 0) return undefined;
    const row = this.#rows.get(lockId(this.#store, key));
    return row === undefined ? undefined : this.#text(row, RESOURCE);
  }

  size(): HeldKeysSize {
    return { keys: this.#rows.size, evicted: this.#evicted, refused: this.#refused };
  }

  #hold(hold: HoldFacts): void {
    const row = this.#rows.get(hold.lock);
    if (row !== undefined) this.#holdAgain(row, hold.owner);
    else if (hold.keyBase64 !== undefined) this.#add(hold, hold.keyBase64);
  }

  #add({ lock, owner, resource }: HoldFacts, keyBase64: string): void {
    const row = this.#free.pop() ?? this.#goneLooks.length;
    this.#rows.set(lock, row);
    this.#goneLooks[row] = UNREAD;
    const at = row * TEXTS;
    this.#texts[at + OWNER] = owner;
    this.#texts[at + RESOURCE] = this.#share(resource);
    this.#texts[at + KEY] = keyBase64;
    if (this.#rows.size > this.#maxKeys) this.#evictOldest();
  }

  #holdAgain(row: number, owner: string): void {
    if (this.#goneLooks[row] !== UNREAD) this.#goneLooks[row] = 0;
    if (this.#text(row, OWNER) === owner) return;
    const others = this.#others.get(row);
    if (others === undefined) this.#others.set(row, new Set([owner]));
    else if (others.size < MAX_OWNERS - 1) others.add(owner);
  }

  /** A release of one holder does not end the hold of another, who may not know yet that he lost the lock. */
  #release(lock: string, owner: string): void {
    const row = this.#rows.get(lock);
    if (row === undefined) return;
    const others = this.#others.get(row);
    const [heir] = others ?? [];
    if (this.#text(row, OWNER) !== owner) others?.delete(owner);
    else if (heir === undefined) this.#drop(lock, row);
    else {
      this.#texts[row * TEXTS + OWNER] = heir;
      others?.delete(heir);
    }
    if (others?.size === 0) this.#others.delete(row);
  }

  /** A forged key could make the exporter look at what is no lock, so it is held against the lock's id. */
  #readKey(lock: string, row: number): boolean {
    const key = Buffer.from(this.#text(row, KEY), 'base64');
    if (lockId(this.#store, key) !== lock) {
      this.#refused += 1;
      return false;
    }
    this.#texts[row * TEXTS + KEY] = key.toString('latin1');
    this.#goneLooks[row] = 0;
    return true;
  }

  #evictOldest(): void {
    for (const [oldest, row] of this.#rows) {
      this.#evicted += 1;
      this.#drop(oldest, row);
      return;
    }
  }

  #drop(lock: string, row: number): void {
    this.#rows.delete(lock);
    this.#others.delete(row);
    this.#texts.fill(undefined, row * TEXTS, (row + 1) * TEXTS);
    this.#free.push(row);
  }

  #text(row: number, place: number): string {
    return this.#texts[row * TEXTS + place] ?? '';
  }

  /** One text for all that say the same: each report brings texts of its own. */
  #share(text: string): string {
    const known = this.#resources.get(text);
    if (known !== undefined) return known;
    if (this.#resources.size < MAX_SHARED_TEXTS) this.#resources.set(text, text);
    return text;
  }
}
