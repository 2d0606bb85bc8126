import { causeOf } from './cause.js';
import type { EmittedUntil } from './emitted-until.js';
import type { Finding } from './finding.js';
import { type Hold, partyOf } from './hold.js';
import type { HoldTable } from './hold-table.js';
import type { HeldKeyLook } from './ports.js';
import type { Producer } from './producers.js';

/**
 * A client reports a hold until the release was answered, though the work has settled and Redis may have let go. So its word
 * that it still holds counts only when it is younger than the doubt by the time that commands usually may take.
 */
const RELEASE_UNDER_WAY_MS = 1500;

const NONE: readonly Hold[] = Object.freeze([]);

/** Finds holds whose client believes in them while Redis has lost them. */
export class Ghosts {
  readonly #store: string;
  readonly #table: HoldTable;
  /** Holds under suspicion by their rows, for each client: a Redis that loses all its data makes one of every hold at once. */
  readonly #suspects = new Map<Producer, Map<number, Hold>>();
  #lastLookMs = Number.NEGATIVE_INFINITY;

  constructor(store: string, table: HoldTable) {
    this.#store = store;
    this.#table = table;
  }

  /** Takes in one look at all held keys. */
  looked(looks: Iterable<HeldKeyLook>, nowMs: number): void {
    for (const look of looks) {
      for (let hold = this.#table.youngestOf(look.lock); hold; hold = hold.older) {
        if (isBelieved(hold)) this.#compare(hold, look, nowMs);
      }
    }
    this.#lastLookMs = nowMs;
  }

  /** Redis said that the lock is this hold's. */
  confirm(hold: Hold, serverUs: number | undefined, serverId: string | undefined): void {
    const { suspicion } = hold;
    if (!suspicion || suspicion.serverId !== serverId || serverUs === undefined) return;
    if (serverUs > suspicion.seenUs) this.clear(hold);
  }

  clear(hold: Hold): void {
    if (!hold.suspicion) return;
    hold.suspicion = undefined;
    const { producer } = hold;
    const suspects = this.#suspects.get(producer);
    suspects?.delete(hold.row);
    if (suspects?.size === 0) this.#suspects.delete(producer);
    this.#table.letGo(hold);
  }

  /** The client is forgotten: nobody will judge those of its holds any more that were forgotten before, for want of room. */
  forget(producer: Producer): void {
    for (const hold of this.#suspectsOf(producer)) this.clear(hold);
  }

  /** The producer's present batch still reports its holds. Those under suspicion long enough are ghosts. */
  stillReported(
    producer: Producer,
    serverId: string | undefined,
    emitted: EmittedUntil,
    findings: Finding[],
  ): void {
    if (!producer.sure || producer.late) return;
    for (const hold of this.#suspectsOf(producer)) {
      if (!isBelieved(hold)) this.clear(hold);
      else if (hold.state === 'live') this.#judge(hold, serverId, emitted, findings);
    }
  }

  #suspectsOf(producer: Producer): Iterable<Hold> {
    return this.#suspects.get(producer)?.values() ?? NONE;
  }

  #compare(hold: Hold, look: HeldKeyLook, nowMs: number): void {
    const found = look.state === 'there' ? look.owner : undefined;
    const isOwn = typeof found === 'string' && hold.isOf(found);
    if (isOwn) this.clear(hold);
    if (isOwn || found === null || look.serverId === null) return;
    if (hold.suspicion?.serverId === look.serverId || !this.#isOlder(hold, look)) return;
    const { serverId, serverUs: seenUs } = look;
    hold.suspicion = { sinceMs: nowMs, seenUs, serverId, found, isStillHeld: false };
    const suspects = this.#suspects.get(hold.producer);
    if (suspects) suspects.set(hold.row, hold);
    else this.#suspects.set(hold.producer, new Map([[hold.row, hold]]));
  }

  /** Whether the hold was granted before the look. Where the clocks cannot tell: it was reported before the look began. */
  #isOlder(hold: Hold, look: HeldKeyLook): boolean {
    if (hold.serverId === look.serverId && hold.grantUs !== undefined) return hold.grantUs < look.serverUs;
    return hold.knownMs < this.#lastLookMs;
  }

  #judge(hold: Hold, serverId: string | undefined, emitted: EmittedUntil, findings: Finding[]): void {
    const { suspicion, producer, lock, resource } = hold;
    if (!suspicion || suspicion.serverId !== serverId) return;
    if (!emitted.isAfter(suspicion.seenUs + RELEASE_UNDER_WAY_MS * 1000, suspicion.serverId)) {
      if (!emitted.isAll || producer.builtAfterMs < suspicion.sinceMs + RELEASE_UNDER_WAY_MS) return;
      const { isStillHeld } = suspicion;
      suspicion.isStillHeld = true;
      if (!isStillHeld) return;
    }
    this.clear(hold);
    hold.state = 'lost';
    hold.mark('toldLoss');
    const { found, seenUs } = suspicion;
    findings.push({
      kind: 'ghost_holder',
      store: this.#store,
      resource,
      lock,
      holder: partyOf(hold),
      found,
      seenUs,
      serverId: suspicion.serverId,
      cause: causeOf(hold, seenUs, suspicion.serverId),
    });
  }
}

/** A silent client may still believe in its hold: what is found in its place tells who took over. */
function isBelieved({ state }: Hold): boolean {
  return state === 'live' || state === 'silent';
}
