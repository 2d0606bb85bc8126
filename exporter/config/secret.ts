/** What stands for a secret wherever one could be printed. */
export const MASK = '***';

/** A text that may be used but not seen: it prints, serializes and inspects as `***`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself. For handing on to a connection, and nothing else. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return MASK;
  }
}
