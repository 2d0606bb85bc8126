/** What was seen to happen to the locks of one resource between two looks: counts since the last report. */
export interface ObservedChanges {
  readonly resource: string;
  readonly renewals: number;
  readonly handovers: number;
  readonly released: number;
  readonly expired: number;
}

/** The kinds of change. */
export type ObservedKind = Exclude<keyof ObservedChanges, 'resource'>;

type Counts = { resource: string } & Record<ObservedKind, number>;

/** Adds up changes by resource until they are taken. */
export class ChangeCounts {
  #byResource = new Map<string, Counts>();

  add(resource: string, kind: ObservedKind): void {
    let counts = this.#byResource.get(resource);
    if (counts === undefined) {
      counts = { resource, renewals: 0, handovers: 0, released: 0, expired: 0 };
      this.#byResource.set(resource, counts);
    }
    counts[kind] += 1;
  }

  /** All since the last call. */
  take(): ObservedChanges[] {
    const taken = [...this.#byResource.values()];
    this.#byResource = new Map();
    return taken;
  }
}
