import type { RejectedEvent } from '../../contract/batch.js';
import { EVENT_SCHEMAS, type EventKind, type LockEvent } from '../../contract/event.js';
import type { RejectReason } from '../../contract/refusals.js';
import { isPlainEvent } from './plain-event.js';
import { describeIssue, type Fault } from './plain-words.js';

/** The events of a batch, told apart. */
export interface EventsRead {
  readonly accepted: readonly LockEvent[];
  readonly rejected: readonly RejectedEvent[];
  /** The reasons of `rejected`, in the same order. */
  readonly reasons: readonly RejectReason[];
}

/** Checks each event for itself. Pure: the same events give the same answer. Never throws. */
export function readEvents(events: readonly unknown[]): EventsRead {
  const accepted: LockEvent[] = [];
  const rejected: RejectedEvent[] = [];
  const reasons: RejectReason[] = [];
  let index = 0;
  for (const event of events) {
    if (typeof event === 'object' && event !== null && isPlainEvent(event)) {
      accepted.push(event);
    } else {
      const read = readEvent(event);
      if ('event' in read) accepted.push(read.event);
      else {
        rejected.push({ index, path: read.fault.path, message: read.fault.message });
        reasons.push(read.fault.reason);
      }
    }
    index += 1;
  }
  return { accepted, rejected, reasons };
}

type EventRead = { event: LockEvent } | { fault: Fault };

/** Has the schema judge. */
function readEvent(event: unknown): EventRead {
  if (typeof event !== 'object' || event === null || Array.isArray(event)) {
    return { fault: { reason: 'not_an_object', path: '', message: 'must be an object' } };
  }
  const kind = Object.hasOwn(event, 'kind') ? Reflect.get(event, 'kind') : undefined;
  if (!isKind(kind)) return { fault: describeKind(kind) };
  // By kind at once: the union of all kinds costs a further look-up per event.
  const read = EVENT_SCHEMAS[kind].safeParse(event);
  if (read.success) return { event: read.data };
  const [first] = read.error.issues;
  const unread: Fault = { reason: 'bad_format', path: '', message: 'cannot be read' };
  return { fault: first ? describeIssue(first, event) : unread };
}

function isKind(kind: unknown): kind is EventKind {
  return typeof kind === 'string' && Object.hasOwn(EVENT_SCHEMAS, kind);
}

function describeKind(kind: unknown): Fault {
  if (kind === undefined) return { reason: 'missing_field', path: 'kind', message: 'is missing' };
  const message = `must be one of ${Object.keys(EVENT_SCHEMAS).join(', ')}`;
  return { reason: 'unknown_kind', path: 'kind', message };
}
