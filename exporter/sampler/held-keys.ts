import type { Hold } from '../../contract/batch.js';
import type { LockEvent } from '../../contract/event.js';
import { lockId } from '../../contract/lock-id.js';

/** A key that a client of this exporter believes to hold. */
export interface HeldKey {
  /** Lock id. */
  readonly lock: string;
  readonly resource: string;
  readonly key: Buffer;
  /** The key with one character per byte (`latin1`). */
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

/** Live locks that the memory bar is meant for; some 300 bytes each. */
const MAX_KEYS = 100_000;
/** More holders of one lock at a time are a sign of forged events. */
const MAX_OWNERS = 16;
/** A key that was gone for so many looks is of no further interest: its holder is dead, or will say so itself. */
const MAX_GONE_LOOKS = 12;

interface Entry {
  resource: string;
  keyBase64: string;
  /** Made at the first look, so that a lock that is held for a moment costs ingest next to nothing. */
  held: HeldKey | undefined;
  readonly owners: Set<string>;
  goneLooks: number;
}

/**
 * The keys that clients hold by their own word, from events and reported holds. Bounded: the longest known goes
 * first. Nothing of it is shown or logged.
 */
export class HeldKeys {
  readonly #store: string;
  readonly #maxKeys: number;
  readonly #byLock = new Map<string, Entry>();
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
    for (const [lock, entry] of this.#byLock) {
      entry.held ??= this.#readKey(lock, entry);
      if (entry.held === undefined) this.#drop(lock);
      else stock.push(entry.held);
    }
    return stock;
  }

  /** Takes in what a look found. */
  note({ lock }: HeldKey, isThere: boolean): void {
    const entry = this.#byLock.get(lock);
    if (entry === undefined) return;
    entry.goneLooks = isThere ? 0 : entry.goneLooks + 1;
    if (entry.goneLooks >= MAX_GONE_LOOKS) this.#drop(lock);
  }

  /** The resource that a client gave the lock of this key, if one holds it and it was looked at. */
  resourceOf(keyBytes: string): string | undefined {
    return this.#resources.get(keyBytes);
  }

  size(): HeldKeysSize {
    return { keys: this.#byLock.size, evicted: this.#evicted, refused: this.#refused };
  }

  #hold(hold: { lock: string; owner: string; resource: string; keyBase64?: string | undefined }): void {
    const { lock, owner, resource, keyBase64 } = hold;
    const known = this.#byLock.get(lock);
    if (known !== undefined) {
      if (known.owners.size < MAX_OWNERS) known.owners.add(owner);
      known.goneLooks = 0;
      return;
    }
    if (keyBase64 === undefined) return;
    const owners = new Set([owner]);
    this.#byLock.set(lock, { resource, keyBase64, held: undefined, owners, goneLooks: 0 });
    if (this.#byLock.size > this.#maxKeys) this.#evictOldest();
  }

  /** A release of one holder does not end the hold of another, who may not know yet that he lost the lock. */
  #release(lock: string, owner: string): void {
    const entry = this.#byLock.get(lock);
    if (entry?.owners.delete(owner) && entry.owners.size === 0) this.#drop(lock);
  }

  /** A forged key could make the exporter look at what is no lock, so it is held against the lock's id. */
  #readKey(lock: string, { keyBase64, resource }: Entry): HeldKey | undefined {
    const key = Buffer.from(keyBase64, 'base64');
    if (lockId(this.#store, key) !== lock) {
      this.#refused += 1;
      return undefined;
    }
    const keyBytes = key.toString('latin1');
    this.#resources.set(keyBytes, resource);
    return { lock, resource, key, keyBytes };
  }

  #evictOldest(): void {
    for (const oldest of this.#byLock.keys()) {
      this.#evicted += 1;
      this.#drop(oldest);
      return;
    }
  }

  #drop(lock: string): void {
    const keyBytes = this.#byLock.get(lock)?.held?.keyBytes;
    if (keyBytes !== undefined) this.#resources.delete(keyBytes);
    this.#byLock.delete(lock);
  }
}
