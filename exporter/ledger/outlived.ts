import type { Party } from './finding.js';
import { type Hold, partyOf } from './hold.js';
import { MAX_OTHERS, type Others } from './overlap-window.js';

const NONE: Others = Object.freeze({ others: [], moreOthers: 0 });

/**
 * Holds that were forgotten for want of room in their lock's list while one granted before them had not ended. Should that
 * one turn out to have overlapped them, its suspect window begins with the first of them. Nothing is kept as long as
 * the oldest hold of a lock has ended, as nearly all have.
 */
export class Outlived {
  readonly #byRow = new Map<number, { readonly others: Party[]; moreOthers: number }>();

  /** Takes in that `later` is forgotten, and that `hold` became known before it and has not ended. */
  note(hold: Hold, later: Hold): void {
    if (!isGrantedAfter(later, hold)) return;
    let kept = this.#byRow.get(hold.row);
    if (!kept) {
      kept = { others: [], moreOthers: 0 };
      this.#byRow.set(hold.row, kept);
    }
    if (kept.others.length < MAX_OTHERS) kept.others.push(partyOf(later));
    else kept.moreOthers += 1;
  }

  /** Those that `hold` outlived, the first forgotten first. */
  of(hold: Hold): Others {
    return this.#byRow.get(hold.row) ?? NONE;
  }

  /** The hold itself is forgotten. */
  forget(hold: Hold): void {
    if (this.#byRow.size > 0) this.#byRow.delete(hold.row);
  }
}

function isGrantedAfter(later: Hold, hold: Hold): boolean {
  if (later.serverId !== hold.serverId) return false;
  return later.grantUs !== undefined && hold.grantUs !== undefined && later.grantUs > hold.grantUs;
}
