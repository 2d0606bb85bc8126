import { z } from 'zod';
import { answerSchema, batchSchema, refusalSchema } from './batch.js';
import { EVENT_SCHEMAS, type EventKind } from './event.js';
import { EVENT_DOCS } from './event-docs.js';

/** A JSON Schema (draft 2020-12) document. */
export type JsonSchema = Record<string, unknown>;

/** The published schemas, so that any language can emit: `batch`, `answer` and `refusal`. */
export function contractJsonSchemas(): Record<'batch' | 'answer' | 'refusal', JsonSchema> {
  return { batch: derive(batchSchema), answer: derive(answerSchema), refusal: derive(refusalSchema) };
}

/** The schema of one kind of event. */
export function eventJsonSchema(kind: EventKind): JsonSchema {
  const { tells, emitted, notEmitted } = EVENT_DOCS[kind];
  return {
    ...derive(EVENT_SCHEMAS[kind]),
    description: `${tells} Emitted: ${emitted} Not emitted: ${notEmitted}`,
  };
}

function derive(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
}
