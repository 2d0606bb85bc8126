const ROWS_PER_BLOCK = 1024;

/**
 * Integers of 32 bits by row, some for each, 0 at first. In blocks: to grow copies nothing, and leaves nothing behind
 * that stays until the next collection of old objects.
 */
export class RowNumbers {
  readonly #perRow: number;
  readonly #blocks: Int32Array[] = [];

  /** @param perRow how many numbers each row has */
  constructor(perRow = 1) {
    this.#perRow = perRow;
  }

  /** 0 where there is no such row. */
  get(row: number, place = 0): number {
    return this.#blocks[Math.floor(row / ROWS_PER_BLOCK)]?.[this.#at(row, place)] ?? 0;
  }

  set(row: number, place: number, value: number): void {
    const index = Math.floor(row / ROWS_PER_BLOCK);
    while (index >= this.#blocks.length) this.#blocks.push(new Int32Array(ROWS_PER_BLOCK * this.#perRow));
    const block = this.#blocks[index];
    if (block !== undefined) block[this.#at(row, place)] = value;
  }

  #at(row: number, place: number): number {
    return (row % ROWS_PER_BLOCK) * this.#perRow + place;
  }
}
