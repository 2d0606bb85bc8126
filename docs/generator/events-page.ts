import {
  BEATS_PER_LEASE,
  contractJsonSchemas,
  DEFAULT_INGEST_ADDRESS,
  DROP_REASONS,
  EVENT_DOCS,
  EVENT_KINDS,
  EVENTS_PATH,
  type EventKind,
  eventJsonSchema,
  type JsonSchema,
  MAX_BATCH_EVENTS,
  MAX_BATCH_HOLDS,
  MAX_BODY_BYTES,
  MIN_HEARTBEAT_MS,
  REFUSALS,
} from '../../contract/index.js';
import { code, page, table } from './markdown.js';

/** A batch that the exporter takes as it stands. The tests post it. */
export const EXAMPLE_BATCH = {
  v: 1,
  producer: 'checkout-7f9c-1796000000',
  startedAtMs: 1_796_000_000_000,
  seq: 1,
  sentAtMs: 1_796_000_001_000,
  store: 'default',
  app: 'checkout',
  instance: 'checkout-7f9c',
  dropped: {},
  events: [
    {
      kind: 'release',
      outcome: 'expired',
      atMs: 1_796_000_000_950,
      resource: 'stock',
      lock: '0123456789abcdef',
      owner: 'fedcba9876543210',
      holdMs: 5_400,
      leaseMs: 5_000,
      renewals: 0,
      peakUse: 1.08,
      lost: true,
      loopDelayMs: 12,
    },
  ],
};

/** `docs/reference/events.md`: the contract, from its schemas. */
export function eventsPage(): string {
  const { batch, answer, refusal } = contractJsonSchemas();
  return page(
    'Events',
    'What a lock client posts to the exporter, in any language. The JSON Schemas are in [schema/](schema/). Names that end in `Us` are microseconds on Redis’s clock, `atMs` and names in `AtMs` are wall time in milliseconds since the epoch, and all other names in `Ms` are durations in milliseconds, measured on a monotonic clock.',
    '## Protocol',
    protocol(),
    '### Example',
    `\`\`\`sh\ncurl -sS http://${DEFAULT_INGEST_ADDRESS}${EVENTS_PATH} -H 'content-type: application/json' -d '${JSON.stringify(EXAMPLE_BATCH)}'\n\`\`\``,
    '## Batch',
    fieldTable([batch]),
    `Reasons of ${code('dropped')}: ${DROP_REASONS.map(code).join(', ')}; any other is counted as ${code('other')}.`,
    '### Hold',
    'An item of `holds`: one lock that the producer believes to hold at `sentAtMs`.',
    fieldTable([itemsOf(batch, 'holds')]),
    '## Answer (200)',
    fieldTable([answer]),
    'An item of `rejected`:',
    fieldTable([itemsOf(answer, 'rejected')]),
    '## Refusal (any other status)',
    fieldTable([propertiesOf(refusal).error ?? {}]),
    'The fields stand inside `error`. **final**: give the batch up and count its events as `refused`. **retry**: send the same bytes again later, after Retry-After where the answer has one.',
    table(['id', 'status', 'the sender', 'meaning'], refusalRows()),
    ...EVENT_KINDS.map(kindSection),
  );
}

function protocol(): string {
  const rules = [
    `Post to ${code(EVENTS_PATH)} of the local listener (${code(`http://${DEFAULT_INGEST_ADDRESS}`)} or a unix socket) as ${code('application/json')}, plain or gzip; with ${code('--token-file')}, also ${code('Authorization: Bearer …')}.`,
    `At most ${MAX_BATCH_EVENTS} events and ${MAX_BATCH_HOLDS} holds in a batch, and ${MAX_BODY_BYTES} bytes after inflation.`,
    `One batch is under way at a time. Number batches from 1 in ${code('seq')}; a resend has the same number and the same bytes. The exporter counts each (${code('producer')}, ${code('seq')}) once and repeats its first answer.`,
    `A bad event costs only itself: it is listed in ${code('rejected')}, the others count. Unknown fields are ignored. An unknown kind, outcome or reason is rejected, so upgrade the exporter first.`,
    `While anything is held, send a batch (empty, if need be) at least every ${MIN_HEARTBEAT_MS} ms or ${BEATS_PER_LEASE} times in the shortest lease, whichever is longer. Every 5 s at the latest is better: that a holder still believes in a lock which Redis has lost is only known by its next batch.`,
    `When ${code('epoch')} in the answer is another than before, the exporter was restarted and knows nothing: send the full set of ${code('holds')} with the next batch. Do the same with the first batch and after events were dropped.`,
    `Never wait for the exporter in the way of a lock. What cannot be kept is dropped and counted in ${code('dropped')}; the counts only grow.`,
    `When the process ends in order, mark the last batch with ${code('closing')}.`,
  ];
  return rules.map((rule, index) => `${index + 1}. ${rule}`).join('\n');
}

function refusalRows(): string[][] {
  return Object.entries(REFUSALS).map(([id, { status, after, meaning }]) => [
    code(id),
    String(status),
    after,
    meaning,
  ]);
}

function kindSection(kind: EventKind): string {
  const { tells, emitted, notEmitted } = EVENT_DOCS[kind];
  const schema = eventJsonSchema(kind);
  const variants = (schema.oneOf ?? schema.anyOf ?? [schema]) as JsonSchema[];
  return [
    `## ${kind}`,
    `${tells} **Emitted:** ${emitted} **Not emitted:** ${notEmitted}`,
    fieldTable(variants),
    ...(variants.length > 1 ? [outcomeTable(variants)] : []),
  ].join('\n\n');
}

/** All fields of the variants. One that only some variants have is marked with their outcomes. */
function fieldTable(variants: readonly JsonSchema[]): string {
  const names = [...new Set(variants.flatMap((variant) => Object.keys(propertiesOf(variant))))];
  const rows = names.map((name) => {
    const owners = variants.filter((variant) => propertiesOf(variant)[name] !== undefined);
    const found = owners.map((variant) => propertiesOf(variant)[name] ?? {});
    const described = found.find((schema) => typeof schema.description === 'string');
    return [
      code(name),
      mergedType(found),
      requiredText(name, owners, variants),
      String(described?.description ?? ''),
    ];
  });
  return table(['field', 'type', 'required', 'meaning'], rows);
}

function requiredText(name: string, owners: readonly JsonSchema[], variants: readonly JsonSchema[]): string {
  const required = owners.every((variant) => ((variant.required ?? []) as string[]).includes(name));
  if (owners.length === variants.length) return required ? 'yes' : 'no';
  const outcomes = owners.map((variant) => String(propertiesOf(variant).outcome?.const)).join(', ');
  return `${required ? 'yes' : 'no'}, with ${outcomes}`;
}

function outcomeTable(variants: readonly JsonSchema[]): string {
  const rows = variants.map((variant) => {
    const { outcome, reason } = propertiesOf(variant);
    return [typeText(outcome ?? {}), reason ? typeText(reason) : '–'];
  });
  return table(['outcome', 'its reasons'], rows);
}

/** One text for a field whose variants differ: all their words, each once. */
function mergedType(schemas: readonly JsonSchema[]): string {
  const words = schemas.flatMap((schema) =>
    'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : [],
  );
  if (words.length === 0) return [...new Set(schemas.map(typeText))].join(', ');
  return [...new Set(words)].map((word) => code(JSON.stringify(word))).join(', ');
}

function typeText(schema: JsonSchema): string {
  if ('const' in schema) return code(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(JSON.stringify(value))).join(', ');
  const type = String(schema.type ?? 'any');
  const pattern = typeof schema.pattern === 'string' ? `, ${code(schema.pattern)}` : '';
  const bounds = [
    bound('minimum', '≥ '),
    bound('maximum', '≤ '),
    bound('minLength', 'at least '),
    bound('maxLength', 'at most '),
    bound('maxItems', 'at most '),
  ];
  const text = bounds.filter((part) => part !== '').join(', ');
  return text === '' ? `${type}${pattern}` : `${type} (${text})${pattern}`;

  function bound(name: string, sign: string): string {
    const value = schema[name];
    return typeof value === 'number' && value !== Number.MAX_SAFE_INTEGER ? `${sign}${value}` : '';
  }
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema.properties ?? {}) as Record<string, JsonSchema>;
}

function itemsOf(schema: JsonSchema, name: string): JsonSchema {
  return (propertiesOf(schema)[name]?.items ?? {}) as JsonSchema;
}
