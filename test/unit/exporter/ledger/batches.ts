import type { Hold } from '../../../../contract/batch.js';
import type { LockEvent } from '../../../../contract/event.js';
import type { Finding } from '../../../../exporter/ledger/finding.js';
import type { LedgerLimits } from '../../../../exporter/ledger/hold-table.js';
import { createLedger, type Ledger } from '../../../../exporter/ledger/ledger.js';
import type { BatchFacts, HeldKeyLook } from '../../../../exporter/ledger/ports.js';

/** What one batch carries. */
export interface Sent {
  events?: readonly LockEvent[];
  holds?: readonly Hold[];
  more?: boolean;
  /** Numbers left out before this batch. */
  gap?: number;
  /** Its number; else the one after the last. */
  seq?: number;
  closing?: boolean;
  serverId?: string | undefined;
}

/** A ledger of the store `orders` whose time stands still until it is moved. Producers number their batches by themselves. */
export class LedgerBench {
  readonly ledger: Ledger;
  nowMs = 10_000;
  readonly #seqs = new Map<string, number>();

  constructor(limits: Partial<LedgerLimits> = {}) {
    this.ledger = createLedger({ store: 'orders', limits });
  }

  /** Delivers a batch as ingest does: events, then holds, then the heartbeat. */
  send(
    producer: string,
    { events = [], holds, more = false, gap = 0, closing = false, seq, ...rest }: Sent = {},
  ): Finding[] {
    const number = seq ?? (this.#seqs.get(producer) ?? 0) + 1 + gap;
    this.#seqs.set(producer, number);
    const serverId = 'serverId' in rest ? rest.serverId : 's1';
    const batch: BatchFacts = { ...this.batch(producer), seq: number, serverId, closing };
    const found = events.flatMap((event) => this.ledger.applyEvent(event, batch));
    if (holds) found.push(...this.ledger.applyHolds(holds, !more, batch));
    return [...found, ...this.ledger.heartbeat(batch)];
  }

  /** The facts of a producer's last batch. */
  batch(producer: string): BatchFacts {
    return {
      store: 'orders',
      producer,
      seq: this.#seqs.get(producer) ?? 0,
      app: 'shop',
      instance: `${producer}-host`,
      startedAtMs: 1_796_000_000_000,
      serverId: 's1',
      receivedMonoMs: this.nowMs,
      closing: false,
    };
  }

  look(...looks: HeldKeyLook[]): readonly Finding[] {
    return this.ledger.looked(looks, this.nowMs);
  }

  /** Lets time pass, with a tick every second. */
  wait(ms: number): Finding[] {
    const endMs = this.nowMs + ms;
    const found: Finding[] = [];
    while (this.nowMs < endMs) {
      this.nowMs = Math.min(endMs, this.nowMs + 1000);
      found.push(...this.ledger.tick(this.nowMs));
    }
    return found;
  }

  holders(): { holders: number; unsure: number } {
    const [count] = this.ledger.holders();
    return { holders: count?.holders ?? 0, unsure: count?.unsure ?? 0 };
  }
}

/** The kinds of findings, in their order. */
export function kindsOf(findings: readonly Finding[]): string[] {
  return findings.map(({ kind }) => kind);
}
