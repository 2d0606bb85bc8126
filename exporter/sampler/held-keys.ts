import type { Hold } from '../../contract/batch.js';
import type { LockEvent } from '../../contract/event.js';
import { lockId } from '../../contract/lock-id.js';
import { ByteStore } from './byte-store.js';
import { ByteTable } from './byte-table.js';
import { DigestColumn } from './digest-column.js';
import { RowList } from './row-list.js';
import { RowNumbers } from './row-numbers.js';
import { RowQueue } from './row-queue.js';
import { SharedTexts } from './shared-texts.js';

/** How full the table of held keys is. */
export interface HeldKeysSize {
  readonly keys: number;
  /** Forgotten for want of room, since the start. */
  readonly evicted: number;
  /** Refused because the key is not the one that the lock id names, since the start. */
  readonly refused: number;
}

/** Live locks that the memory bar is meant for; some 100 bytes each. */
const MAX_KEYS = 100_000;
/** More holders of one lock at a time are a sign of forged events. */
const MAX_OWNERS = 16;
/** A key that was gone for so many looks is of no further interest: its holder is dead, or will say so itself. */
const MAX_GONE_LOOKS = 12;
/** Stand in the place of a number of looks: the key was not looked at, nor held against its lock's id yet. */
const UNREAD = -1;
/** Not held any more, but in the stock that a look may be under way with. */
const LEFT = -2;
/** The same, and then held again. */
const BACK = -3;
/** Of a lock id. */
const ID_BYTES = 8;

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
  readonly #locks: ByteTable;
  readonly #keys = new ByteStore();
  readonly #owners = new DigestColumn();
  readonly #resources: (string | undefined)[] = [];
  /** Looks since the key was there last. */
  readonly #goneLooks = new RowNumbers();
  /** Of those that are held. */
  readonly #order = new RowQueue();
  /** Of the few locks that more than one believes to hold: the others. */
  readonly #others = new Map<number, Set<string>>();
  readonly #texts = new SharedTexts();
  /** The id that is looked for, in bytes. */
  readonly #id = Buffer.alloc(ID_BYTES);
  /** What the last look was given. */
  readonly #stock = new RowList();
  #held = 0;
  #evicted = 0;
  #refused = 0;

  /** @param seed of the table of locks; who reports holds must not know it */
  constructor(store: string, maxKeys: number = MAX_KEYS, seed = 0) {
    this.#store = store;
    this.#maxKeys = Math.max(1, maxKeys);
    this.#locks = new ByteTable(seed);
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

  /**
   * The keys to look at, as numbers for the calls below; good until the next call. Call it once for a look: what cannot
   * be a key of its lock is dropped here.
   */
  takeStock(): RowList {
    for (const row of this.#stock) if (this.#goneLooks.get(row) === LEFT) this.#free(row);
    this.#stock.clear();
    for (const row of this.#order) {
      if (this.#goneLooks.get(row) === UNREAD && !this.#isOfLock(row)) {
        this.#refused += 1;
        this.#drop(row);
        continue;
      }
      this.#goneLooks.set(row, 0, Math.max(0, this.#goneLooks.get(row)));
      this.#stock.push(row);
    }
    return this.#stock;
  }

  /** Lock id of a key of the stock. */
  lockOf(row: number): string {
    return this.#locks.text(row, 'hex');
  }

  /** The resource that a client gave the lock of a key of the stock. */
  resourceAt(row: number): string {
    return this.#resources[row] ?? '';
  }

  /** A key of the stock, where it lies: not to be kept. */
  keyAt(row: number): Buffer {
    return this.#keys.read(row);
  }

  /** Takes in what a look found of a key of the stock. */
  note(row: number, isThere: boolean): void {
    const goneLooks = this.#goneLooks.get(row);
    // Released, and perhaps taken again, since the look began.
    if (goneLooks < 0) return;
    this.#goneLooks.set(row, 0, isThere ? 0 : goneLooks + 1);
    if (!isThere && goneLooks + 1 >= MAX_GONE_LOOKS) this.#drop(row);
  }

  /** The resource that a client gave the lock of this key, if one holds it. Takes 2 µs, to name the lock. */
  resourceOf(key: Buffer): string | undefined {
    if (this.#held === 0) return undefined;
    const row = this.#find(lockId(this.#store, key));
    return row < 0 ? undefined : this.#resources[row];
  }

  size(): HeldKeysSize {
    return { keys: this.#held, evicted: this.#evicted, refused: this.#refused };
  }

  /** The row of a lock that is held; -1 when it is not. */
  #find(lock: string): number {
    const row = this.#findRow(lock);
    return row < 0 || this.#goneLooks.get(row) === LEFT ? -1 : row;
  }

  #findRow(lock: string): number {
    this.#id.write(lock, 'hex');
    return this.#locks.find(this.#id, 0, ID_BYTES);
  }

  #hold(hold: HoldFacts): void {
    const row = this.#find(hold.lock);
    if (row >= 0) this.#holdAgain(row, hold.owner);
    else if (hold.keyBase64 !== undefined) this.#add(hold, Buffer.from(hold.keyBase64, 'base64'));
  }

  #add({ lock, owner, resource }: HoldFacts, key: Buffer): void {
    const row = this.#rowFor(lock, key);
    if (row < 0) return;
    this.#owners.set(row, owner);
    this.#resources[row] = this.#texts.share(resource);
    this.#order.append(row);
    this.#held += 1;
    if (this.#held > this.#maxKeys) this.#evictOldest();
  }

  /** What left the stock under way has the key of its lock; another one is forged. Returns -1 then. */
  #rowFor(lock: string, key: Buffer): number {
    const known = this.#findRow(lock);
    if (known < 0) {
      const row = this.#locks.add(this.#id, 0, ID_BYTES);
      this.#keys.set(row, key, 0, key.length);
      this.#goneLooks.set(row, 0, UNREAD);
      return row;
    }
    if (!this.#keys.equals(known, key, 0, key.length)) {
      this.#refused += 1;
      return -1;
    }
    this.#goneLooks.set(known, 0, BACK);
    return known;
  }

  #holdAgain(row: number, owner: string): void {
    if (this.#goneLooks.get(row) > 0) this.#goneLooks.set(row, 0, 0);
    if (this.#owners.is(row, owner)) return;
    const others = this.#others.get(row);
    if (others === undefined) this.#others.set(row, new Set([owner]));
    else if (others.size < MAX_OWNERS - 1) others.add(owner);
  }

  /** A release of one holder does not end the hold of another, who may not know yet that he lost the lock. */
  #release(lock: string, owner: string): void {
    const row = this.#find(lock);
    if (row < 0) return;
    const others = this.#others.get(row);
    const [heir] = others ?? [];
    if (!this.#owners.is(row, owner)) others?.delete(owner);
    else if (heir === undefined) this.#drop(row);
    else {
      this.#owners.set(row, heir);
      others?.delete(heir);
    }
    if (others?.size === 0) this.#others.delete(row);
  }

  /** A forged key could make the exporter look at what is no lock, so it is held against the lock's id. */
  #isOfLock(row: number): boolean {
    return lockId(this.#store, this.keyAt(row)) === this.lockOf(row);
  }

  #evictOldest(): void {
    this.#evicted += 1;
    this.#drop(this.#order.first);
  }

  /** Most locks are released before any look: their rows are free at once. */
  #drop(row: number): void {
    const isNew = this.#goneLooks.get(row) === UNREAD;
    this.#goneLooks.set(row, 0, LEFT);
    this.#others.delete(row);
    this.#order.remove(row);
    this.#held -= 1;
    if (isNew) this.#free(row);
  }

  #free(row: number): void {
    this.#locks.remove(row);
    this.#keys.clear(row);
    this.#resources[row] = undefined;
  }
}
