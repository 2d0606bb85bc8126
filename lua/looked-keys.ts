import { KeyState, STATE_BYTES } from './key-state.js';

/** How keys are that were asked for by name, in the string in which the script sent it. */
export class LookedKeys {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** How many were asked for. */
  get length(): number {
    return this.#bytes.length / STATE_BYTES;
  }

  /** Hands over one after the other, in the order asked, in one and the same object. */
  forEach(take: (state: KeyState, index: number) => void): void {
    const state = new KeyState(this.#bytes);
    for (let index = 0; index < this.length; index += 1) {
      state.moveTo(index * STATE_BYTES);
      take(state, index);
    }
  }
}

/** Reads what look.lua sent of so many keys; undefined when it is nothing that the script sends. */
export function readLookedKeys(bytes: Buffer, keys: number): LookedKeys | undefined {
  if (bytes.length !== keys * STATE_BYTES) return undefined;
  const looked = new LookedKeys(bytes);
  let isValid = true;
  looked.forEach((state) => {
    isValid &&= state.isValid;
  });
  return isValid ? looked : undefined;
}

/** Names as look.lua takes them: each with its length before it, so that it may hold any byte. */
export function packNames(names: readonly Buffer[]): Buffer {
  const packed = Buffer.allocUnsafe(names.reduce((sum, { length }) => sum + length + LENGTH_BYTES, 0));
  let at = 0;
  for (const name of names) {
    packed.writeUInt32LE(name.length, at);
    at += LENGTH_BYTES + name.copy(packed, at + LENGTH_BYTES);
  }
  return packed;
}

const LENGTH_BYTES = 4;
