import { REFUSALS, type RefusalId } from '../../contract/index.js';
import { DEFAULT_HOT_LIMIT, MAX_HOT_LIMIT } from '../../exporter/http/lock-routes.js';
import { DEFAULT_LOCKS_LIMIT, MAX_LOCKS_LIMIT } from '../../exporter/http/locks-query.js';
import { DEFAULT_HOT_KEYS } from '../../exporter/ledger/hot-keys.js';
import { DEFAULT_TIMELINE_LIMITS } from '../../exporter/ledger/timeline.js';
import {
  CAUSES,
  ENTRY_FIELDS,
  FINDING_FIELDS,
  FINDING_KINDS,
  FINDINGS_FIELDS,
  type Field,
  HOT_FIELDS,
  HOT_LOCK_FIELDS,
  INGEST_FIELDS,
  LEDGER_FIELDS,
  LISTENERS_FIELDS,
  LOCK_FIELDS,
  LOCKS_FIELDS,
  LOSS_FIELDS,
  PARTY_FIELDS,
  PROOFS,
  SAMPLE_FIELDS,
  SAMPLER_FIELDS,
  STATUS_FIELDS,
  TIMELINE_FIELDS,
} from './http-fields.js';
import { code, page, table } from './markdown.js';

/** Refusals that the pages of this listener can give. */
const REFUSED: readonly RefusalId[] = [
  'bad_query',
  'bad_json',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'too_large',
  'unsupported_media_type',
  'internal',
  'shutting_down',
];

/** `docs/reference/http-api.md`: what the local listener tells as JSON. */
export function httpPage(): string {
  return page(
    'JSON pages',
    'What the local listener (`--local-listen`, `127.0.0.1:9723` or a unix socket) tells of one exporter. Posting events is [another page](events.md). Everything is in the memory of that exporter, bounded, and gone with its process.',
    'A **Redis time** is in microseconds on the clock of a Redis server, comparable within one `serverId` only. A **wall time** is in milliseconds since the epoch; names in `Ms` are otherwise durations in milliseconds. A field of a party, an entry or the sampler that is not known is absent; everywhere else it is `null`. Fields may be added; ignore those that you do not know.',
    'With `--token-file` send `Authorization: Bearer …`. All paths take GET and HEAD.',
    table(
      ['path', 'parameters', 'tells'],
      [
        ['[`/api/v1/findings`](#findings)', '–', 'what was found lately'],
        ['[`/api/v1/timeline`](#timeline)', '`lock`: a lock id', 'what is remembered of one lock'],
        ['[`/api/v1/hot`](#hot)', '`limit`', 'the locks that most attempts go to'],
        ['[`/api/v1/locks`](#locks)', '`resource`, `limit`', 'what the last sample found in Redis'],
        ['[`/api/v1/status`](#status)', '–', 'how the exporter is'],
      ],
    ),
    ...findings(),
    ...timeline(),
    ...hot(),
    ...locks(),
    ...status(),
    '## Errors',
    'Any other status has the body `{"error": {"id": …, "message": …}}`. The message says what to do, and holds nothing of the request.',
    table(
      ['id', 'status', 'meaning'],
      REFUSED.map((id) => [code(id), String(REFUSALS[id].status), REFUSALS[id].meaning]),
    ),
  );
}

function findings(): string[] {
  return [
    '## findings',
    'The last 500, however old. A finding that is told more of later (the length of an overlap, a holder that was taken over) is changed where it stands. Its `foundAtMs` and `kind` never change. A loss leaves the list when its hold turns out to have overlapped: the overlap has the facts of the loss. Losses leave first once they are more than half of the list.',
    fieldTable(FINDINGS_FIELDS),
    'One of `findings`:',
    fieldTable(FINDING_FIELDS),
    'A party (`holder`, `other`, each of `others`), as far as it is known:',
    fieldTable(PARTY_FIELDS),
    'A `loss`:',
    fieldTable(LOSS_FIELDS),
    '### Kinds',
    wordTable('kind', FINDING_KINDS),
    '### Causes',
    'A guess from what was reported, so that the reader begins at the right end.',
    wordTable('cause', CAUSES),
    '### Proofs of an overlap',
    wordTable('provenBy', PROOFS),
  ];
}

function timeline(): string[] {
  const { perLock, total } = DEFAULT_TIMELINE_LIMITS;
  return [
    '## timeline',
    `The last ${perLock} entries of a lock, and ${total.toLocaleString('en')} of all locks: beyond that the lock to which nothing happened for longest goes, as a whole. By key, which is not to stand in an address: POST ${code('{"key": "lock:stock:1"}')}, or ${code('{"keyBase64": …}')} for a key that is no text, as ${code('application/json')}; the key as Redis stores it. ${code('redis-lock-exporter timeline')} prints the same for people.`,
    fieldTable(TIMELINE_FIELDS),
    'One of `entries`, as far as it applies:',
    fieldTable(ENTRY_FIELDS),
  ];
}

function hot(): string[] {
  const { windowMs, capacity, shown } = DEFAULT_HOT_KEYS;
  return [
    '## hot',
    `The last full window of ${windowMs / 1000} s; of the windows before nothing is kept. ${capacity} locks are counted at a time. ${code('limit')}: 1 to ${MAX_HOT_LIMIT}, ${DEFAULT_HOT_LIMIT} by default. At most ${shown} of them are also series (${code('redis_lock_hot_attempts')} and its like).`,
    fieldTable(HOT_FIELDS),
    'One of `locks`:',
    fieldTable(HOT_LOCK_FIELDS),
  ];
}

function locks(): string[] {
  return [
    '## locks',
    `Lock keys that the last sample found in Redis, whoever took them. ${code('limit')}: 1 to ${MAX_LOCKS_LIMIT}, ${DEFAULT_LOCKS_LIMIT} by default; ${code('resource')}: only those of one resource.`,
    fieldTable(LOCKS_FIELDS),
    'One of `locks`:',
    fieldTable(LOCK_FIELDS),
  ];
}

function status(): string[] {
  return [
    '## status',
    'No URL of Redis, no key and no token is on it.',
    fieldTable(STATUS_FIELDS),
    '`sampler`:',
    fieldTable(SAMPLER_FIELDS),
    '`sampler.last`:',
    fieldTable(SAMPLE_FIELDS),
    '`ingest`:',
    fieldTable(INGEST_FIELDS),
    '`ledger`:',
    fieldTable(LEDGER_FIELDS),
    '`listeners`:',
    fieldTable(LISTENERS_FIELDS),
  ];
}

function fieldTable(fields: Readonly<Record<string, Field>>): string {
  return table(
    ['field', 'form', 'meaning'],
    Object.entries(fields).map(([name, [form, meaning]]) => [code(name), form, meaning]),
  );
}

function wordTable(head: string, words: Readonly<Record<string, string>>): string {
  return table(
    [head, 'meaning'],
    Object.entries(words).map(([word, meaning]) => [code(word), meaning]),
  );
}
