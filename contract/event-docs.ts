import type { EventKind } from './event.js';

/** What a kind of event tells, when it is emitted, and when it is not. The reference page and the JSON Schema come from it. */
export interface EventDoc {
  tells: string;
  emitted: string;
  notEmitted: string;
}

export const EVENT_DOCS: Record<EventKind, EventDoc> = {
  acquire: {
    tells: 'One call to acquire a lock, all its attempts together.',
    emitted: 'Once per call, when its outcome is known.',
    notEmitted: 'For a call refused for its arguments, and for the clean-up after an unknown outcome.',
  },
  renew: {
    tells: 'One try to extend a lease.',
    emitted: 'For each try, whatever its outcome.',
    notEmitted:
      'After a loss, a release or maxHoldMs, since no renewal is sent then; and for a reply that comes after the hold ended.',
  },
  check: {
    tells: 'One pre-commit check asked of Redis.',
    emitted: 'For each check, when it is answered.',
    notEmitted: 'For isValid(), which asks nobody; and for an answer that comes after the work settled.',
  },
  lost: {
    tells: 'The lease ended, or the key became another’s, while the work went on.',
    emitted: 'At once, once per hold, before the hold’s release.',
    notEmitted: 'When the work settled first; and by a process that was killed.',
  },
  release: {
    tells: 'The work settled, and the lock was given back or found gone.',
    emitted: 'Exactly once per hold that began with an acquired, also after a loss.',
    notEmitted: 'By a process that was killed, for a lease never released, and for a repeated release().',
  },
  commit: {
    tells: 'The caller marked its business commit.',
    emitted: 'For each mark.',
    notEmitted: 'By the client of itself.',
  },
  fence: {
    tells: 'A fenced store took or refused a write.',
    emitted: 'When the caller reports it.',
    notEmitted: 'By the client of itself.',
  },
  duplicate: {
    tells: 'A business action ran twice.',
    emitted: 'When the caller reports it.',
    notEmitted: 'By the client of itself.',
  },
};
