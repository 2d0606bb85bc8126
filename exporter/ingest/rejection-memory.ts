import type { RejectedEvent } from '../../contract/batch.js';

/** Most rejected events remembered, over all producers: a few MB at the very most. */
const MAX_REMEMBERED = 20_000;

/** What was said of rejected events, so that the answer to a resend can repeat it. The oldest is forgotten first. */
export class RejectionMemory {
  readonly #lists = new Map<string, readonly RejectedEvent[]>();
  readonly #limit: number;
  #remembered = 0;

  constructor(limit: number = MAX_REMEMBERED) {
    this.#limit = limit;
  }

  remember(producer: string, seq: number, rejected: readonly RejectedEvent[]): void {
    if (rejected.length === 0) return;
    const key = batchKey(producer, seq);
    this.#forget(key);
    this.#lists.set(key, rejected);
    this.#remembered += rejected.length;
    for (const oldest of this.#lists.keys()) {
      if (this.#remembered <= this.#limit) return;
      this.#forget(oldest);
    }
  }

  recall(producer: string, seq: number): readonly RejectedEvent[] | undefined {
    return this.#lists.get(batchKey(producer, seq));
  }

  #forget(key: string): void {
    this.#remembered -= this.#lists.get(key)?.length ?? 0;
    this.#lists.delete(key);
  }
}

/** A producer's name has no blank. */
function batchKey(producer: string, seq: number): string {
  return `${producer} ${seq}`;
}
