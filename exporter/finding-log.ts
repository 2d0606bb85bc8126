import type { Log, LogFields } from './cli/log.js';
import type { Finding, Loss, Party } from './ledger/finding.js';

/** Lines of a level for findings within {@link WINDOW_MS}: a failover may bring thousands at once, and the list has them all. */
const MAX_LINES = 20;
const WINDOW_MS = 60_000;

/** Writes a line for each finding that somebody must act on, and no more than a reader can take in. Never a key. */
export class FindingLog {
  readonly #log: Log;
  #windowStartMs = Number.NEGATIVE_INFINITY;
  readonly #lines = { warn: 0, info: 0 };
  #left = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  write(finding: Finding | Loss, nowMonoMs: number): void {
    if (nowMonoMs - this.#windowStartMs >= WINDOW_MS) this.#begin(nowMonoMs);
    switch (finding.kind) {
      case 'overlap': {
        const { fromUs, untilUs, serverId, cause, provenBy, others, moreOthers } = finding;
        this.#write('warn', 'overlap: another was granted the lock before the work settled', {
          ...factsOf(finding),
          others: others.length + moreOthers,
          suspectFromUs: fromUs,
          suspectUntilUs: untilUs,
          serverId,
          cause,
          provenBy,
        });
        return;
      }
      case 'ghost_holder': {
        const { found, seenUs, serverId, cause } = finding;
        const facts = { ...factsOf(finding), found: found ?? 'gone', suspectFromUs: seenUs, serverId, cause };
        this.#write('warn', 'ghost holder: a client believes to hold a lock that Redis has lost', facts);
        return;
      }
      case 'fence_regression':
        this.#write(
          'warn',
          'fence regression: a grant has a fence that is not above an earlier one',
          factsOf(finding),
        );
        return;
      case 'lost': {
        const { loss, cause } = finding;
        // Counted and alerted on by its counter; the line is for whoever looks for the one lock.
        const facts = { ...factsOf(finding), ...loss, cause };
        this.#write('info', 'lost: a lease was over or gone while the work went on', facts);
        return;
      }
      case 'abandoned':
        // Most that fall silent have died, and nobody is in danger; one that was replaced may still work.
        if (finding.takenOver)
          this.#write('warn', 'taken over: a silent holder was replaced', factsOf(finding));
        return;
      case 'overlap_other':
      case 'overlap_end':
      case 'zombie_renewal':
        return;
      default:
        finding satisfies never;
    }
  }

  #write(level: 'warn' | 'info', msg: string, fields: LogFields): void {
    this.#lines[level] += 1;
    if (this.#lines[level] > MAX_LINES) this.#left += 1;
    else this.#log[level](msg, fields);
  }

  #begin(nowMonoMs: number): void {
    if (this.#left > 0)
      this.#log.warn('further findings were not logged; /api/v1/findings has them', { left: this.#left });
    this.#windowStartMs = nowMonoMs;
    this.#lines.warn = 0;
    this.#lines.info = 0;
    this.#left = 0;
  }
}

function factsOf(finding: { lock: string; resource: string; holder: Party; other?: Party }): LogFields {
  const { lock, resource, holder, other } = finding;
  return { lock, resource, ...sideOf('holder', holder), ...(other ? sideOf('other', other) : {}) };
}

function sideOf(side: string, { owner, fence, app, instance }: Party): LogFields {
  return {
    [side]: owner,
    [`${side}Fence`]: fence,
    [`${side}App`]: app,
    [`${side}Instance`]: instance,
  };
}
