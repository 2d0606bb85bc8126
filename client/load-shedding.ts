import { checkMs, invalidOption } from './options.js';

/** When acquires of a resource are refused at once. */
export interface SheddingOptions {
  /** Share of the lease that recent holds use on average, above which refusing begins. 0.1 to 10. Default 0.8. */
  startAt?: number;
  /** Share below which refusing ends: less than `startAt`, so that it does not flutter. Default 0.6. */
  stopAt?: number;
  /** Holds seen before anything is refused, 1 to 1000. Default 10. */
  minHolds?: number;
  /** While refusing, one acquire in this time is let through to see how long a hold takes now: 1 to 600,000 ms. Default 1000. */
  probeEveryMs?: number;
  /** Only these resources. Default: all. */
  resources?: readonly string[];
}

/** Resources watched at once; further ones are never refused. */
const MAX_WATCHED = 500;
/** Weight of the latest hold in the average: about the last ten holds count. */
const WEIGHT = 0.2;

interface ResourceLoad {
  holds: number;
  averageUse: number;
  refuses: boolean;
  nextProbeMs: number;
}

/**
 * Refuses work whose locks are about to outlive their leases, before it starts (requirement L17). Watches, per
 * resource, the largest share of a lease that each hold used; for a fixed lease that is hold ÷ lease.
 */
export class LoadShedding {
  readonly #startAt: number;
  readonly #stopAt: number;
  readonly #minHolds: number;
  readonly #probeEveryMs: number;
  readonly #resources: ReadonlySet<string> | undefined;
  readonly #loads = new Map<string, ResourceLoad>();

  /** @throws RedisLockError `invalid_option` */
  constructor(options: SheddingOptions) {
    const {
      startAt = 0.8,
      stopAt = Math.min(0.6, startAt * 0.75),
      minHolds = 10,
      probeEveryMs = 1000,
    } = options;
    this.#startAt = checkRange('shedding.startAt', startAt, 0.1, 10);
    this.#stopAt = checkRange('shedding.stopAt', stopAt, 0, startAt);
    this.#minHolds = checkRange('shedding.minHolds', minHolds, 1, 1000);
    this.#probeEveryMs = checkMs('shedding.probeEveryMs', probeEveryMs, 1, 600_000);
    this.#resources = options.resources && new Set(options.resources);
  }

  /** False: refuse. While refusing, the answer is true once in a while, to let one acquire look. */
  admits(resource: string, nowMs: number): boolean {
    const load = this.#loads.get(resource);
    if (!load?.refuses) return true;
    if (nowMs < load.nextProbeMs) return false;
    load.nextProbeMs = nowMs + this.#probeEveryMs;
    return true;
  }

  /** @param use largest share of a lease that a settled hold used */
  observe(resource: string, use: number, nowMs: number): void {
    if (this.#resources !== undefined && !this.#resources.has(resource)) return;
    const load = this.#loads.get(resource) ?? this.#watch(resource);
    if (load === undefined) return;
    load.averageUse = load.holds === 0 ? use : load.averageUse + WEIGHT * (use - load.averageUse);
    load.holds = Math.min(load.holds + 1, this.#minHolds);
    this.#judge(load, nowMs);
  }

  #watch(resource: string): ResourceLoad | undefined {
    if (this.#loads.size >= MAX_WATCHED) return undefined;
    const load = { holds: 0, averageUse: 0, refuses: false, nextProbeMs: 0 };
    this.#loads.set(resource, load);
    return load;
  }

  #judge(load: ResourceLoad, nowMs: number): void {
    if (load.refuses) {
      load.refuses = load.averageUse >= this.#stopAt;
    } else if (load.holds >= this.#minHolds && load.averageUse >= this.#startAt) {
      load.refuses = true;
      load.nextProbeMs = nowMs + this.#probeEveryMs;
    }
  }
}

function checkRange(name: string, value: number, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw invalidOption(`${name} must be a number from ${min} to ${max}`);
}
