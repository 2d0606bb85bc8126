import {
  contractJsonSchemas,
  EVENT_DOCS,
  EVENT_KINDS,
  EVENTS_PATH,
  type EventKind,
  eventJsonSchema,
  type JsonSchema,
  MAX_BATCH_EVENTS,
  MAX_BATCH_HOLDS,
  MAX_BODY_BYTES,
} from '../../contract/index.js';
import { code, page, table } from './markdown.js';

/** `docs/reference/events.md`: the contract, from its schemas. */
export function eventsPage(): string {
  const { batch, answer, refusal } = contractJsonSchemas();
  return page(
    'Events',
    `Post batches as ${code('application/json')} to ${code(EVENTS_PATH)}. At most ${MAX_BATCH_EVENTS} events and ${MAX_BATCH_HOLDS} holds in a batch, and ${MAX_BODY_BYTES} bytes after inflation. A bad event costs only itself; unknown fields are ignored. Names ending in ${code('Ms')} are milliseconds on a monotonic clock, in ${code('AtMs')} wall time, in ${code('Us')} microseconds on Redis’s clock. The JSON Schemas are in [schema/](schema/).`,
    '## Batch',
    fieldTable([batch]),
    '### Hold',
    'An item of `holds`: one lock that the producer believes to hold at `sentAtMs`.',
    fieldTable([itemsOf(batch, 'holds')]),
    '## Answer (200)',
    fieldTable([answer]),
    '## Refusal (any other status)',
    fieldTable([refusal]),
    ...EVENT_KINDS.map(kindSection),
  );
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

/** All fields of the variants; one that some variants lack, or that may be left out, is optional. */
function fieldTable(variants: readonly JsonSchema[]): string {
  const names = [...new Set(variants.flatMap((variant) => Object.keys(propertiesOf(variant))))];
  const rows = names.map((name) => {
    const found = variants.flatMap((variant): JsonSchema[] => onlyIf(propertiesOf(variant)[name]));
    const always = variants.every((variant) => ((variant.required ?? []) as string[]).includes(name));
    const described = found.find((schema) => typeof schema.description === 'string');
    const types = [...new Set(found.map(typeText))].join(', ');
    return [code(name), types, always ? 'yes' : 'no', String(described?.description ?? '')];
  });
  return table(['field', 'type', 'required', 'meaning'], rows);
}

function outcomeTable(variants: readonly JsonSchema[]): string {
  const rows = variants.map((variant) => {
    const { outcome, reason } = propertiesOf(variant);
    return [typeText(outcome ?? {}), reason ? typeText(reason) : ''];
  });
  return table(['outcome', 'its reasons'], rows);
}

function typeText(schema: JsonSchema): string {
  if ('const' in schema) return code(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => code(JSON.stringify(value))).join(', ');
  const type = String(schema.type ?? 'any');
  const bounds = [
    bound('minimum', '≥ '),
    bound('maximum', '≤ '),
    bound('maxItems', 'at most '),
    bound('maxLength', 'at most '),
  ];
  const text = bounds.filter((part) => part !== '').join(', ');
  return text === '' ? type : `${type} (${text})`;

  function bound(name: string, sign: string): string {
    const value = schema[name];
    return typeof value === 'number' && value !== Number.MAX_SAFE_INTEGER ? `${sign}${value}` : '';
  }
}

function onlyIf(schema: JsonSchema | undefined): JsonSchema[] {
  return schema ? [schema] : [];
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema.properties ?? {}) as Record<string, JsonSchema>;
}

function itemsOf(schema: JsonSchema, name: string): JsonSchema {
  return (propertiesOf(schema)[name]?.items ?? {}) as JsonSchema;
}
