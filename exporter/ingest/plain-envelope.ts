import { CONTRACT_VERSION, type Envelope } from '../../contract/batch.js';
import { plainTextPattern } from '../../contract/text.js';
import { countFields, isPlainHold, isServerId, isWallMs, isWhole, present } from './plain-event.js';

/** The fields of an envelope, of any type. */
type Unread = { readonly [Field in keyof Envelope]?: unknown };

const PRODUCER = /^[A-Za-z0-9_-]{8,64}$/;
const STORE = /^[A-Za-z0-9_.-]{1,64}$/;
const PLAIN_TEXT = plainTextPattern();
const MAX_NAME_LENGTH = 64;
/** Those that every batch has, `events` among them. */
const FIELDS = 10;

/**
 * Whether this is surely a valid envelope without unknown fields, drops or holds that are not plain. As with events, a "no"
 * leaves it to the schema. It saves 0.1 µs for an event in batches of 500.
 *
 * @param body of which the lengths of the lists were looked at
 */
export function isPlainEnvelope(body: object): body is Envelope {
  const unread: Unread = body;
  const { v, producer, startedAtMs, seq, sentAtMs, store, app, instance, events } = unread;
  return (
    v === CONTRACT_VERSION &&
    typeof producer === 'string' &&
    PRODUCER.test(producer) &&
    isWallMs(startedAtMs) &&
    isWhole(seq, 1, Number.MAX_SAFE_INTEGER) &&
    isWallMs(sentAtMs) &&
    typeof store === 'string' &&
    STORE.test(store) &&
    isName(app) &&
    isName(instance) &&
    Array.isArray(events) &&
    hasPlainExtras(unread)
  );
}

function hasPlainExtras(body: Unread): boolean {
  const { dropped, serverId, holds, holdsMore, closing } = body;
  const optional = present(serverId) + present(holds) + present(holdsMore) + present(closing);
  return (
    isEmptyObject(dropped) &&
    (serverId === undefined || isServerId(serverId)) &&
    (holds === undefined || (Array.isArray(holds) && holds.every(isPlainHold))) &&
    (holdsMore === undefined || typeof holdsMore === 'boolean') &&
    (closing === undefined || typeof closing === 'boolean') &&
    countFields(body) === FIELDS + optional
  );
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH && PLAIN_TEXT.test(value);
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && countFields(value) === 0;
}
