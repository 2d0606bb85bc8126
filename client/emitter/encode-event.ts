import type { EventServer, PendingEvent } from './emitter.js';
import type { EncodedEvent } from './encoded-queue.js';

/**
 * Longest event in characters (UTF-16). The contract's bounds on single fields keep every valid event below half of
 * it, and a batch has room for hundreds.
 */
export const MAX_EVENT_LENGTH = 5000;

/** Encodes an event, or says for which reason it is to be dropped: then the others go on. Never throws. */
export function encodeEvent(
  pending: PendingEvent,
  server: EventServer | undefined,
): EncodedEvent | 'encode_failed' | 'too_large' {
  const isAscii = pending.encodeJson !== undefined;
  const json = readJson(pending);
  if (json === undefined) return 'encode_failed';
  if (json.length >= MAX_EVENT_LENGTH) return 'too_large';
  return { json, isAscii, urgent: pending.urgent, server };
}

function readJson(pending: PendingEvent): string | undefined {
  try {
    if (pending.encodeJson !== undefined) return pending.encodeJson();
    return JSON.stringify(pending.encode()) as string | undefined;
  } catch {
    return undefined;
  }
}
