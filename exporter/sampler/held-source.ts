import { DutyBudget } from './duty-budget.js';
import type { HeldKeys } from './held-keys.js';
import { HeldLooker, type HeldLookResult, type HeldLookTools } from './held-look.js';
import type { HeldSight } from './held-sights.js';
import { KeyspacePart, type KeyspaceView, type PartEnd } from './keyspace-view.js';
import type { ObservedChanges } from './observed-changes.js';
import type { HeldLook, HeldLookReport } from './ports.js';
import type { LookOutcome, SampleSource } from './sample-source.js';
import type { Sighting } from './sighting.js';
import { NO_COUNTS } from './sweep.js';

/** What the looks at held keys work with. */
export interface HeldSourceOptions extends HeldLookTools {
  readonly store: string;
  readonly view: KeyspaceView;
  /** Largest share of a server's time: above 0, at most 1. */
  readonly dutyShare: number;
  /** Hears of each look. */
  readonly heldLooked: (report: HeldLookReport) => void;
}

/** Of mode `held`: looks only at the keys that clients of this exporter hold; nothing is scanned. */
export class HeldSource implements SampleSource {
  readonly #options: HeldSourceOptions;
  readonly #looker: HeldLooker;
  readonly #duty: DutyBudget;
  readonly #part = new KeyspacePart();
  /** The last look was good, so a key that went away since has an explanation. */
  #steady = false;
  #evicted = 0;

  constructor(options: HeldSourceOptions) {
    this.#options = options;
    this.#looker = new HeldLooker(options);
    this.#duty = new DutyBudget(options.dutyShare);
  }

  waitMs(): number {
    return this.#duty.waitMs(this.#options.clock.monoMs());
  }

  async look(): Promise<LookOutcome> {
    const { clock, view } = this.#options;
    const startMs = clock.monoMs();
    view.begin(this.#part, true);
    const result = await this.#looker.look();
    this.#duty.spend(startMs, result.costUs);
    const faults = [...new Set(result.faults)];
    const seen = this.#take(result);
    this.#part.end = this.#endOf(result);
    view.endSweeps(clock.monoMs(), Number.POSITIVE_INFINITY);
    this.#steady = faults.length === 0;
    if (result.failed) return { kind: 'failed', reason: faults[0] ?? 'other' };
    this.#options.heldLooked(reportLook(this.#options, result));
    const counts = { ...NO_COUNTS, ...seen, costUs: result.costUs };
    return { kind: 'good', counts, truncated: faults.length > 0, faults };
  }

  forget(): void {
    this.#steady = false;
    this.#part.end = { kind: 'failed', serverUs: 0, explained: false };
  }

  sightings(): Iterable<Sighting> {
    return this.#options.view.values();
  }

  takeChanges(): readonly ObservedChanges[] {
    return this.#options.view.takeChanges();
  }

  #take({ sights }: HeldLookResult): { keys: number; vanished: number; moved: number; steps: number } {
    const { view, clock, heldKeys } = this.#options;
    const monoMs = clock.monoMs();
    const counts = { keys: 0, vanished: 0, moved: 0, steps: 1 };
    for (const { row, state, seen, moment } of sights) {
      const bytes = heldKeys.keyAt(row);
      const { serverUs } = moment;
      if (state === 'elsewhere') counts.moved += 1;
      else if (state === 'gone') {
        counts.vanished += 1;
        view.recheckGone(bytes, serverUs);
      } else {
        counts.keys += 1;
        const { leftMs, type, owner } = seen;
        const key = { bytes, start: 0, end: bytes.length, leftMs, type, owner };
        view.see(this.#part, key, { monoMs, serverUs });
      }
    }
    return counts;
  }

  /** A hold that its client has released is not asked for any more, and gone from its view before its expiry. */
  #endOf({ sights, faults, failed }: HeldLookResult): PartEnd {
    const { clock, heldKeys } = this.#options;
    const { evicted } = heldKeys.size();
    const explained = this.#steady && faults.length === 0 && evicted === this.#evicted;
    this.#evicted = evicted;
    if (failed) return { kind: 'failed', serverUs: 0, explained: false };
    let serverUs: number | undefined;
    for (const { state, moment } of sights) if (state !== 'elsewhere') serverUs = moment.serverUs;
    serverUs ??= clock.wallMs() * 1000;
    return { kind: 'done', serverUs, explained };
  }
}

/** The look as it is handed on, each part made while it is walked over. Keys of which nothing is known are left out. */
export function reportLook(
  { store, heldKeys }: Pick<HeldSourceOptions, 'store' | 'heldKeys'>,
  { sights }: Pick<HeldLookResult, 'sights'>,
): HeldLookReport {
  return { store, looks: { [Symbol.iterator]: () => readLooks(heldKeys, sights) } };
}

function* readLooks(heldKeys: HeldKeys, sights: Iterable<HeldSight>): Iterator<HeldLook> {
  for (const { row, state, seen, moment } of sights) {
    if (state === 'elsewhere') continue;
    const { serverUs, serverId } = moment;
    const [lock, resource] = [heldKeys.lockOf(row), heldKeys.resourceAt(row)];
    if (state === 'gone') yield { lock, resource, serverId, serverUs, state };
    else yield { lock, resource, serverId, serverUs, state, leftMs: seen.leftMs, owner: seen.owner };
  }
}
