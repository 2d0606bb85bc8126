import { OTHER_RESOURCE, ResourceCap } from '../../contract/resource.js';

/** Most stores with a name of their own. An exporter watches one; clients may post for a few more. */
export const MAX_STORES = 32;

/** The label values that stand for a store and a resource. */
export interface LabelNames {
  readonly store: string;
  readonly resource: string;
}

/**
 * Keeps the number of (store, resource) pairs bounded, for events and samples alike: at most `resourceCap` pairs
 * plus one `__other__` per store.
 */
export class BoundedNames {
  readonly #stores = new ResourceCap(MAX_STORES);
  readonly #pairs: ResourceCap;
  readonly #onOverflow: (label: 'store' | 'resource') => void;

  /** @param onOverflow called each time a name is folded */
  constructor(resourceCap: number, onOverflow: (label: 'store' | 'resource') => void) {
    this.#pairs = new ResourceCap(resourceCap);
    this.#onOverflow = onOverflow;
  }

  /** The names to use. Broken surrogates are replaced: two of them would be one and the same series on the page. */
  admit(store: string, resource: string): LabelNames {
    const storeName = this.store(store);
    const wellFormed = resource.toWellFormed();
    if (wellFormed === OTHER_RESOURCE) return { store: storeName, resource: OTHER_RESOURCE };
    // A zero byte parts the pair: neither a store nor a resource can hold one.
    const folded = this.#pairs.admit(`${storeName}\0${wellFormed}`) === OTHER_RESOURCE;
    if (folded) this.#onOverflow('resource');
    return { store: storeName, resource: folded ? OTHER_RESOURCE : wellFormed };
  }

  /** The name to use for a store alone. */
  store(store: string): string {
    const name = this.#stores.admit(store);
    if (name !== store) this.#onOverflow('store');
    return name;
  }

  /** Distinct pairs seen, the folded ones included (exact up to the cap plus 50,000). */
  get distinct(): number {
    return this.#pairs.distinct;
  }
}
