import type { Hold as ReportedHold } from '../../contract/batch.js';
import type { AcquireEvent, LockEvent, LostEvent, ReleaseEvent, RenewEvent } from '../../contract/event.js';
import type { Finding } from './finding.js';
import type { Ghosts } from './ghosts.js';
import type { Hold } from './hold.js';
import type { HoldFacts } from './hold-facts.js';
import type { HoldTable } from './hold-table.js';
import { type NotOwnedEvent, readNotOwned } from './not-owned.js';
import type { Overlaps } from './overlaps.js';
import type { Producer } from './producers.js';
import { findRegressions } from './regressions.js';

/** What the reports of clients change, and are held against. */
export interface ReportParts {
  readonly store: string;
  readonly table: HoldTable;
  readonly overlaps: Overlaps;
  readonly ghosts: Ghosts;
}

const NOTHING: readonly Finding[] = Object.freeze([]);

/** Takes what clients report of their holds, one event or one hold of a set at a time, in whatever order it arrives. */
export class HoldReports {
  readonly #store: string;
  readonly #table: HoldTable;
  readonly #overlaps: Overlaps;
  readonly #ghosts: Ghosts;
  /** Awake time of the report being taken. */
  #nowMs = 0;

  constructor({ store, table, overlaps, ghosts }: ReportParts) {
    this.#store = store;
    this.#table = table;
    this.#overlaps = overlaps;
    this.#ghosts = ghosts;
  }

  /** Takes an event. @param serverId of its times and fences */
  take(
    event: LockEvent,
    producer: Producer,
    serverId: string | undefined,
    nowMs: number,
  ): readonly Finding[] {
    this.#nowMs = nowMs;
    switch (event.kind) {
      case 'acquire':
        return this.#acquired(event, producer, serverId);
      case 'renew':
        if (event.outcome === 'renewed') this.#renewed(event, producer, serverId);
        break;
      case 'check':
        if (event.outcome === 'held') this.#held(event.owner, event.serverUs, serverId);
        break;
      case 'lost':
        this.#reportedLost(this.#holdOf(event, producer), event);
        break;
      case 'release':
        return this.#released(event, producer, serverId);
      case 'commit':
      case 'fence':
      case 'duplicate':
        return NOTHING;
      default:
        return event satisfies never;
    }
    const notOwned = readNotOwned(event);
    return notOwned ? this.#notOwned(notOwned, producer, serverId) : NOTHING;
  }

  /** Takes one hold of a full set. */
  takeHold(
    report: ReportedHold,
    producer: Producer,
    serverId: string | undefined,
    nowMs: number,
    findings: Finding[],
  ): Hold {
    this.#nowMs = nowMs;
    const hold = this.#holdOf(report, producer);
    if (hold.is('settled') || hold.is('givenUp')) return hold;
    if (hold.state === 'ended') this.#table.revive(hold, producer);
    if (hold.state !== 'lost') hold.state = report.leftMs > 0 ? 'live' : 'lost';
    hold.leaseMs = report.leaseMs;
    hold.leaseEndMs = nowMs + report.leftMs;
    this.#granted(hold, report.fence, report.grantUs, serverId, findings);
    return hold;
  }

  /** Nobody reports the hold any more. */
  end(hold: Hold): void {
    this.#ghosts.clear(hold);
    this.#table.end(hold);
  }

  #holdOf(facts: HoldFacts, producer: Producer): Hold {
    return this.#table.find(facts.owner) ?? this.#table.add(facts, producer, this.#nowMs);
  }

  #acquired(event: AcquireEvent, producer: Producer, serverId: string | undefined): readonly Finding[] {
    if (event.outcome === 'unknown' && event.owner !== undefined) {
      const { lock, owner, resource } = event;
      const hold = this.#holdOf({ lock, owner, resource }, producer);
      hold.leaseMs = event.leaseMs;
      hold.leaseEndMs = this.#nowMs + event.leaseMs;
      this.end(hold);
    }
    if (event.outcome !== 'acquired') return NOTHING;
    const hold = this.#holdOf(event, producer);
    if (producer.late) this.#heardOfLate(hold);
    else if (hold.state === 'unknown') hold.state = 'live';
    if (event.watchdog) hold.mark('watchdog');
    if (hold.leaseMs === 0) hold.leaseMs = event.leaseMs;
    if (hold.leaseEndMs === 0) hold.leaseEndMs = this.#nowMs + event.leaseMs;
    return this.#granted(hold, event.fence, event.serverUs, serverId);
  }

  /**
   * A batch that comes after a later one tells what was. A hold that is first heard of by it may have been released since, in a
   * batch that went to an earlier run of this process; the client's next full set names it if it was not.
   */
  #heardOfLate(hold: Hold): void {
    if (hold.state === 'unknown') this.#table.end(hold);
  }

  #granted(
    hold: Hold,
    fence: number | undefined,
    grantUs: number | undefined,
    serverId: string | undefined,
    findings?: Finding[],
  ): readonly Finding[] {
    if (grantUs === undefined || hold.grantUs !== undefined) {
      hold.number(fence);
      return NOTHING;
    }
    hold.grant(grantUs, serverId, fence);
    hold.leaseEndUs ??= grantUs + hold.leaseMs * 1000;
    // Nothing to hold it against, as with most grants.
    if (hold.isFront && this.#overlaps.openCount === 0) return NOTHING;
    const found = findings ?? [];
    findRegressions(this.#store, hold, this.#table, (one) => found.push(one));
    this.#overlaps.compare(hold, this.#nowMs, found);
    return found;
  }

  #renewed(event: RenewEvent, producer: Producer, serverId: string | undefined): void {
    const hold = this.#holdOf(event, producer);
    // A renewal by the caller's own hand has no plan that it could be late by.
    if (event.lateMs !== undefined) hold.mark('watchdog');
    if (producer.late) this.#heardOfLate(hold);
    if (producer.late || hold.is('settled')) return;
    if (hold.state === 'ended' && !hold.is('givenUp')) this.#table.revive(hold, producer);
    if (hold.state !== 'lost') hold.state = 'live';
    hold.number(event.fence);
    hold.leaseMs = event.leaseMs;
    hold.leaseEndMs = this.#nowMs + event.leaseMs;
    if (event.serverUs !== undefined && (hold.serverId ?? serverId) === serverId) {
      hold.leaseEndUs = event.serverUs + event.leaseMs * 1000;
    }
    this.#ghosts.confirm(hold, event.serverUs, serverId);
  }

  #held(owner: string, serverUs: number | undefined, serverId: string | undefined): void {
    const hold = this.#table.find(owner);
    if (hold) this.#ghosts.confirm(hold, serverUs, serverId);
  }

  #reportedLost(hold: Hold, { by, loopDelayMs, leaseMs, fence }: LostEvent): void {
    if (by === 'max_hold') hold.mark('reachedMaxHold');
    hold.loopDelayMs = loopDelayMs;
    if (hold.leaseMs === 0) hold.leaseMs = leaseMs;
    hold.number(fence);
    this.#lost(hold);
  }

  #lost(hold: Hold): void {
    if (hold.state !== 'ended') hold.state = 'lost';
  }

  /** The answer came while the work went on; of a release, after it had settled. */
  #notOwned(event: NotOwnedEvent, producer: Producer, serverId: string | undefined): readonly Finding[] {
    const hold = this.#holdOf(event, producer);
    const findings: Finding[] = [];
    if (event.kind !== 'release') {
      this.#lost(hold);
      this.#workedUntil(hold, event.serverUs, serverId);
    }
    this.#overlaps.answered(hold, event, serverId, this.#nowMs, findings);
    if (event.kind !== 'release') this.#overlaps.compare(hold, this.#nowMs, findings);
    return findings;
  }

  #workedUntil(hold: Hold, us: number | undefined, serverId: string | undefined): void {
    if (us === undefined || serverId === undefined || hold.is('settled')) return;
    if (hold.workedServer === serverId && (hold.workedUntilUs ?? 0) > us) return;
    hold.work(us, serverId);
  }

  #released(event: ReleaseEvent, producer: Producer, serverId: string | undefined): readonly Finding[] {
    const hold = this.#holdOf(event, producer);
    hold.loopDelayMs = event.loopDelayMs;
    hold.leaseMs = event.leaseMs;
    hold.number(event.fence);
    hold.mark('givenUp');
    hold.releasedUs = event.serverUs;
    if (event.settledUs !== undefined && serverId !== undefined) {
      hold.work(event.settledUs, serverId);
      hold.mark('endKnown');
    }
    hold.mark('settled');
    this.end(hold);
    const notOwned = readNotOwned(event);
    // As with nearly all releases of a busy lock.
    if (!notOwned && hold.isFront && this.#overlaps.openCount === 0) return NOTHING;
    const findings = notOwned ? [...this.#notOwned(notOwned, producer, serverId)] : [];
    this.#overlaps.compare(hold, this.#nowMs, findings);
    return findings;
  }
}
