import { ACTIVE, Hold, LIVE } from './hold.js';
import { BLOCK_BITS, HoldBlock, INDEX_MASK, INTEGER, ROWS_PER_BLOCK, TEXT } from './hold-block.js';
import type { OpenOverlap, Suspicion } from './hold-facts.js';
import type { Producer } from './producers.js';
import type { RowWords } from './row-index.js';

/** One less than the number of handles that are kept. */
const RECENT_MASK = 1023;

const LOCK_WORDS = [INTEGER.lockHigh, INTEGER.lockLow] as const;
const OWNER_WORDS = [INTEGER.ownerHigh, INTEGER.ownerLow] as const;

/**
 * Where the holds are kept: 130 bytes for each, nearly all of it outside of the heap that is collected. As objects, of 400
 * bytes, a hundred thousand of them took as much as the rest of the program, and a busy lock's outlived two scavenges before
 * they were forgotten.
 *
 * The row of a forgotten hold is used again: there are never more than there were holds at a time.
 */
export class HoldRows {
  readonly #blocks: HoldBlock[] = [];
  readonly #free: number[] = [];
  /** Handles made lately, by the last bits of their rows: those of hot locks are asked for again and again. */
  readonly #recent: (Hold | undefined)[] = new Array(RECENT_MASK + 1).fill(undefined);
  #used = 0;
  /** Of few holds. */
  readonly suspicions = new Map<number, Suspicion>();
  readonly openOverlaps = new Map<number, OpenOverlap>();

  /** A hold of which nothing is known yet. */
  take(): Hold {
    const hold = this.at(this.#free.pop() ?? this.#makeRow());
    hold.clear();
    return hold;
  }

  /** The hold in this row. */
  at(row: number): Hold {
    const recent = this.#recent[row & RECENT_MASK];
    if (recent?.row === row) return recent;
    const hold = new Hold(this, this.blockOf(row), row, row & INDEX_MASK);
    this.#recent[row & RECENT_MASK] = hold;
    return hold;
  }

  /** Takes a forgotten hold back, unless an overlap is still to be measured or a suspicion to be judged. */
  giveBack(hold: Hold): void {
    if (hold.place !== 'forgotten' || hold.open !== undefined || hold.suspicion !== undefined) return;
    hold.place = 'spare';
    this.#free.push(hold.row);
  }

  /** Calls `visit` with each hold, those in no list included, in no order. */
  forEach(visit: (hold: Hold) => void): void {
    for (let row = 0; row < this.#used; row += 1) visit(this.at(row));
  }

  /** Calls `visit` for each live hold of its producer, in no order. Makes no handle for any: this is done every second. */
  forEachLive(visit: (resource: string, producer: Producer) => void): void {
    for (const { integers, texts, producers } of this.#blocks) {
      for (let index = 0; index < ROWS_PER_BLOCK; index += 1) {
        const at = HoldBlock.integersAt(index);
        if (integers[at + INTEGER.state] !== LIVE || integers[at + INTEGER.place] !== ACTIVE) continue;
        const producer = producers[index];
        if (producer) visit(texts[HoldBlock.textsAt(index) + TEXT.resource] ?? '', producer);
      }
    }
  }

  /** What an index by this digest needs. */
  wordsOf(digest: 'lock' | 'owner'): RowWords {
    const [high, low] = digest === 'lock' ? LOCK_WORDS : OWNER_WORDS;
    return { highOf: (row) => this.#integer(row, high), lowOf: (row) => this.#integer(row, low) };
  }

  blockOf(row: number): HoldBlock {
    const block = this.#blocks[row >> BLOCK_BITS];
    if (block === undefined) throw new Error(`There is no hold in row ${row}`);
    return block;
  }

  #integer(row: number, place: number): number {
    return this.blockOf(row).integers[HoldBlock.integersAt(row & INDEX_MASK) + place] ?? 0;
  }

  #makeRow(): number {
    if (this.#used === this.#blocks.length * ROWS_PER_BLOCK) this.#blocks.push(new HoldBlock());
    this.#used += 1;
    return this.#used - 1;
  }
}
