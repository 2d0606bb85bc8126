import type { BoundedNames, LabelNames } from './label-names.js';
import type { ResourceInfo } from './resource-info.js';
import { type EventFamilies, ResourceSlot } from './resource-slot.js';

/** Finds the slot of a resource. Holds at most as many slots as there are bounded names. */
export class ResourceTable {
  readonly #slots = new Map<string, Map<string, ResourceSlot>>();
  readonly #families: EventFamilies;
  readonly #names: BoundedNames;
  readonly #info: ResourceInfo;
  readonly #onNew: (names: LabelNames) => void;

  /** @param onNew called with each pair of names that gets a slot */
  constructor(
    families: EventFamilies,
    names: BoundedNames,
    info: ResourceInfo,
    onNew: (names: LabelNames) => void,
  ) {
    this.#families = families;
    this.#names = names;
    this.#info = info;
    this.#onNew = onNew;
  }

  /** The slot of a resource, born with its first event. Beyond the caps: that of `__other__`. */
  slot(store: string, resource: string): ResourceSlot {
    return this.#slots.get(store)?.get(resource) ?? this.#admit(store, resource);
  }

  #admit(store: string, resource: string): ResourceSlot {
    const names = this.#names.admit(store, resource);
    const ofStore = this.#ofStore(names.store);
    const known = ofStore.get(names.resource);
    if (known !== undefined) return known;
    this.#info.show(names);
    this.#onNew(names);
    const slot = new ResourceSlot(this.#families, names.store, names.resource);
    ofStore.set(names.resource, slot);
    return slot;
  }

  #ofStore(store: string): Map<string, ResourceSlot> {
    const known = this.#slots.get(store);
    if (known !== undefined) return known;
    const fresh = new Map<string, ResourceSlot>();
    this.#slots.set(store, fresh);
    return fresh;
  }
}
