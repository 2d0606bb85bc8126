import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchSchema, envelopeSchema, MAX_BATCH_HOLDS } from '../../../../contract/batch.js';
import { eventSchema, type LockEvent } from '../../../../contract/event.js';
import { isPlainEnvelope } from '../../../../exporter/ingest/plain-envelope.js';
import { isPlainEvent, isPlainHold } from '../../../../exporter/ingest/plain-event.js';
import { readEnvelope } from '../../../../exporter/ingest/read-envelope.js';
import { EXAMPLE_EVENTS, exampleBatch } from '../../../contract/examples.js';
import { batch } from './ingest-bench.js';

type Fields = Record<string, unknown>;

const events: readonly LockEvent[] = Object.values(EXAMPLE_EVENTS).flat();
const steady = new Set(['acquired', 'contended', 'released', 'renewed']);
const [hold] = exampleBatch().holds ?? [];
const holdSchema = batchSchema.shape.holds.unwrap().element;

/** Values at and beyond every bound that a field has, and of every type. */
const BOUNDS: readonly unknown[] = [
  ...[0, -0, -1, 1, 0.5, 64, 1e9, 1e9 + 1, 1e10, 1e10 + 1, 86_400_000, 86_400_001],
  ...[999_999_999_999, 1e12, 9_999_999_999_999, 1e13, 2 ** 53 - 1, 2 ** 53, 1e300, Number.NaN, Infinity],
  ...['', 'try', 'wait', 'acquired', 'contended', 'released', 'renewed', 'expired', 'acquire', 'release'],
  ...['0123456789abcdef', '0123456789ABCDEF', '0123456789abcdef\n', 'bG9jaw==', 'bG9jaw===', '=', 'a b'],
  ...['x'.repeat(40), 'x'.repeat(41), 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(1024), 'x'.repeat(1025)],
  ...['a\u0000', 'a\u009f', 'a\u00a0', 'a\u2028', '\ud800', 'ü', true, false, null, undefined, {}, [], [1]],
];
const values = fc.oneof(
  fc.constantFrom(...BOUNDS),
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc.double(),
);
const names = fc.constantFrom(
  ...new Set([...events, ...(hold ? [hold] : [])].flatMap((one) => Object.keys(one))),
  'unknownField',
);
const change = fc.oneof(
  fc.record({ name: names, value: values }).map(({ name, value }) => ({ [name]: value })),
  names.map((name) => ({ drop: name })),
);

/** One or two fields of a valid object are changed, added or left out. */
function changed(of: fc.Arbitrary<object>): fc.Arbitrary<Fields> {
  return fc.tuple(of, fc.array(change, { minLength: 1, maxLength: 2 })).map(([valid, changes]) => {
    const result: Fields = { ...valid };
    for (const one of changes) {
      if ('drop' in one) delete result[String(one.drop)];
      else Object.assign(result, one);
    }
    return result;
  });
}

describe('the quick look at events', () => {
  it('takes nothing that the schema would refuse or read as something else', () => {
    const property = fc.property(changed(fc.constantFrom(...events)), (event) => {
      if (!isPlainEvent(event)) return;
      const read = eventSchema.safeParse(event);
      expect(read.error?.issues).toBeUndefined();
      expect(event).toStrictEqual(read.data);
    });
    fc.assert(property, { numRuns: 20_000 });
  });

  it('draws every bound of every field where the schema draws it', () => {
    for (const event of events.filter(isPlainEvent)) {
      for (const name of Object.keys(event)) {
        for (const value of BOUNDS) {
          const one = { ...event, [name]: value };
          if (isPlainEvent(one)) expect([one, eventSchema.safeParse(one).data]).toEqual([one, one]);
        }
      }
    }
  });

  it('takes the events of everyday traffic, so that the schema is not asked for them', () => {
    for (const event of events) {
      const everyday = event.kind !== 'check' && 'outcome' in event && steady.has(event.outcome);
      expect([event, isPlainEvent(event)]).toEqual([event, everyday]);
    }
  });

  it('takes them without the fields that may be left out', () => {
    const optional = ['serverUs', 'serverId', 'fence', 'keyBase64', 'traceId', 'settledUs', 'lateMs'];
    for (const event of events.filter(isPlainEvent)) {
      const bare = Object.fromEntries(Object.entries(event).filter(([name]) => !optional.includes(name)));
      expect([bare, isPlainEvent(bare)]).toEqual([bare, eventSchema.safeParse(bare).success]);
      expect(isPlainEvent({ ...bare, serverId: 'a1' })).toBe(true);
    }
  });
});

describe('the quick look at holds', () => {
  it('takes nothing that the schema would refuse or read as something else', () => {
    const property = fc.property(changed(fc.constant(hold ?? {})), (one) => {
      if (!isPlainHold(one)) return;
      const read = holdSchema.safeParse(one);
      expect(read.error?.issues).toBeUndefined();
      expect(one).toStrictEqual(read.data);
    });
    fc.assert(property, { numRuns: 5000 });
  });

  it('takes a valid hold', () => {
    expect(isPlainHold(hold)).toBe(true);
    expect(isPlainHold({ ...hold, serverId: 'a1' })).toBe(true);
    expect([null, 1, 'hold', [], undefined].map(isPlainHold)).toEqual([false, false, false, false, false]);
  });

  it('leaves out the unknown field of a hold, and of the holds beside it nothing', () => {
    const read = readEnvelope(batch({ holds: [hold, { ...hold, secret: 'x' }] as never }));
    expect(read).toMatchObject({ envelope: { holds: [hold, hold] } });
    expect(JSON.stringify(read)).not.toContain('secret');
  });

  it('names the fault of one hold among many', () => {
    const holds = Array.from({ length: MAX_BATCH_HOLDS }, () => ({ ...hold }));
    const read = readEnvelope(batch({ holds: [...holds.slice(1), { ...hold, leaseMs: 0 }] as never }));
    expect(read).toEqual({ message: 'The batch cannot be read: holds.1999.leaseMs must be at least 1' });
  });
});

describe('the quick look at envelopes', () => {
  const full = { ...exampleBatch(), dropped: {}, events: [], holdsMore: true, closing: false };
  const fields = Object.keys(full);
  const odd = [
    ...BOUNDS,
    { queue_full: 1 },
    [hold],
    [{ ...hold, leaseMs: 0 }],
    'orders',
    'producer-1',
    'a\u0007b',
  ];

  it('takes nothing that the schema would refuse or read as something else', () => {
    for (const name of [...fields, 'unknownField']) {
      for (const value of odd) {
        const body = { ...full, [name]: value };
        if (!isPlainEnvelope(body)) continue;
        const read = envelopeSchema.safeParse(body);
        expect([name, value, read.error?.issues]).toEqual([name, value, undefined]);
        expect(body).toStrictEqual(read.data);
      }
    }
  });

  it('takes everyday envelopes, so that the schema is not asked for them', () => {
    const { serverId: _server, holds: _holds, holdsMore: _more, closing: _closing, ...bare } = full;
    expect([full, bare, batch()].map(isPlainEnvelope)).toEqual([true, true, true]);
    const without = fields.map((name) =>
      Object.fromEntries(Object.entries(full).filter(([one]) => one !== name)),
    );
    const taken = without.map((body) => [isPlainEnvelope(body), envelopeSchema.safeParse(body).success]);
    expect(taken.every(([plain, valid]) => plain === valid)).toBe(true);
  });
});
