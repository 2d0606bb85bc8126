/** Something that works today and breaks a lock one day. */
export interface LockWarning {
  /** One word, the same for the same kind of fault. */
  readonly code: string;
  /** What is wrong, why it matters and what to set. Holds no key and no secret. */
  readonly message: string;
}

/** Gets each warning once. What it throws is dropped. */
export type OnWarning = (warning: LockWarning) => void;

/** Most warnings that one client gives: beyond it a new one is dropped, so that memory stays bounded. */
const MAX_WARNINGS = 500;

/** Gives each warning once. */
export class Warnings {
  readonly #onWarning: OnWarning;
  readonly #given = new Set<string>();

  constructor(onWarning: OnWarning = emitProcessWarning) {
    this.#onWarning = onWarning;
  }

  /** @param about tells two warnings of one code apart, such as a resource */
  give(warning: LockWarning, about = ''): void {
    const name = `${warning.code} ${about}`;
    if (this.#given.has(name) || this.#given.size >= MAX_WARNINGS) return;
    this.#given.add(name);
    try {
      this.#onWarning(warning);
    } catch {
      // The listener's own fault must not fail a lock.
    }
  }
}

function emitProcessWarning(warning: LockWarning): void {
  process.emitWarning(warning.message, { type: 'RedisLockWarning', code: warning.code });
}
