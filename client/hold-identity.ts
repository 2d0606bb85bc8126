import { ownerDigest } from '../contract/lock-id.js';
import type { LockName } from './lock-name.js';

/** What every event about one hold names. Kept apart from the hold, so that a waiting event keeps little alive. */
export class HoldIdentity {
  readonly name: LockName;
  readonly fence: number | undefined;
  readonly #token: string;
  #owner: string | undefined;

  constructor(name: LockName, fence: number | undefined, token: string) {
    this.name = name;
    this.fence = fence;
    this.#token = token;
  }

  /** Digest of the owner token. */
  get owner(): string {
    this.#owner ??= ownerDigest(this.#token);
    return this.#owner;
  }
}
