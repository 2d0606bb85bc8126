import { describe, expect, it } from 'vitest';
import { answerSchema, EVENT_KINDS, type LockEvent, refusalSchema } from '../../contract/index.js';
import { BATCH_RESULTS, REJECT_REASONS } from '../../contract/refusals.js';
import { answerOf, batch, makeIngest } from '../unit/exporter/ingest/ingest-bench.js';
import { EXAMPLE_EVENTS } from './examples.js';

const [RELEASE] = EXAMPLE_EVENTS.release;
const [ACQUIRE] = EXAMPLE_EVENTS.acquire;

/** How one event fares: the rejection, or undefined. */
function judge(event: unknown) {
  const bench = makeIngest();
  const { rejected } = answerOf(bench.ingest.receive(batch({ events: [event as LockEvent] })));
  return rejected[0] && { ...rejected[0], reason: Object.keys(bench.totals.reasons)[0] };
}

describe('ingest keeps the contract', () => {
  it.each(EVENT_KINDS)('takes every example of %s as it is', (kind) => {
    const { ingest, events } = makeIngest();
    ingest.receive(batch({ events: EXAMPLE_EVENTS[kind] }));
    expect(events.map(({ event }) => event)).toEqual(EXAMPLE_EVENTS[kind]);
  });

  it('answers and refuses in the contract’s shape', () => {
    const { ingest } = makeIngest();
    const taken = ingest.receive(batch({ events: [RELEASE, {}] as LockEvent[] }));
    expect(taken.status === 200 && answerSchema.parse(taken.answer)).toEqual(
      taken.status === 200 && taken.answer,
    );
    const refused = ingest.receive({});
    expect(refused.status === 400 && refusalSchema.parse(refused.refusal).error.id).toBe('bad_envelope');
  });

  it('its label values are words', () => {
    for (const word of [...BATCH_RESULTS, ...REJECT_REASONS]) expect(word).toMatch(/^[a-z_]+$/);
  });
});

describe('a bad event is rejected in plain words', () => {
  it.each([
    ['text for an event', 'hello', '', 'not_an_object', 'must be an object'],
    ['a list for an event', [RELEASE], '', 'not_an_object', 'must be an object'],
    ['null for an event', null, '', 'not_an_object', 'must be an object'],
    ['no kind', {}, 'kind', 'missing_field', 'is missing'],
    [
      'an unknown kind',
      { kind: 'unlock' },
      'kind',
      'unknown_kind',
      `must be one of ${EVENT_KINDS.join(', ')}`,
    ],
    ['a kind that is no text', { kind: 5 }, 'kind', 'unknown_kind', 'must be one of'],
    ['a negative count', { ...RELEASE, renewals: -3 }, 'renewals', 'out_of_range', 'must be at least 0'],
    ['a missing duration', { ...RELEASE, holdMs: undefined }, 'holdMs', 'missing_field', 'is missing'],
    [
      'null for a duration',
      { ...RELEASE, holdMs: null },
      'holdMs',
      'wrong_type',
      'must be a number, not null',
    ],
    [
      'text for a duration',
      { ...RELEASE, holdMs: '191' },
      'holdMs',
      'wrong_type',
      'must be a number, not text',
    ],
    [
      'a fraction for a count',
      { ...RELEASE, renewals: 1.5 },
      'renewals',
      'wrong_type',
      'must be a whole number',
    ],
    [
      'a huge duration',
      { ...RELEASE, holdMs: 1e11 },
      'holdMs',
      'out_of_range',
      'must be at most 10000000000',
    ],
    [
      'an unknown outcome',
      { ...RELEASE, outcome: 'gone' },
      'outcome',
      'unknown_word',
      'must be one of released, expired',
    ],
    [
      'an unknown outcome of an acquire',
      { ...ACQUIRE, outcome: 'got' },
      'outcome',
      'unknown_word',
      'must be one of acquired, contended',
    ],
    [
      'no outcome of an acquire',
      { ...ACQUIRE, outcome: undefined },
      'outcome',
      'missing_field',
      'is missing',
    ],
    [
      'a key for a lock id',
      { ...RELEASE, lock: 'lock:stock:1' },
      'lock',
      'bad_format',
      'must be 16 lower-case hex digits',
    ],
    [
      'a line end in a name',
      { ...RELEASE, resource: 'a\nb' },
      'resource',
      'bad_format',
      'must hold no control characters',
    ],
    [
      'an empty name',
      { ...RELEASE, resource: '' },
      'resource',
      'out_of_range',
      'must hold at least 1 character',
    ],
    [
      'text for a switch',
      { ...RELEASE, lost: 'no' },
      'lost',
      'wrong_type',
      'must be true or false, not text',
    ],
  ])('%s', (_, event, path, reason, words) => {
    expect(judge(event)).toEqual({ index: 0, path, reason, message: expect.stringContaining(words) });
  });

  it.each([
    ['seconds', 1_796_000_000, 'this looks like seconds'],
    ['ISO text', '2026-01-01T00:00:00Z', 'must be a number, not text'],
    ['no time', undefined, 'is missing'],
    ['microseconds', 1_796_000_000_000_000, 'must be at most'],
  ])('a wall time as %s', (_, atMs, words) => {
    expect(judge({ ...RELEASE, atMs })).toMatchObject({
      path: 'atMs',
      message: expect.stringContaining(words),
    });
  });

  it('a wall time that is a day off is taken: nothing is counted by it', () => {
    expect(judge({ ...RELEASE, atMs: 1_796_000_000_000 + 86_400_000 })).toBeUndefined();
    expect(judge({ ...RELEASE, atMs: 1_796_000_000_000 - 86_400_000 })).toBeUndefined();
  });

  it('a rejection never repeats what was sent: it may be a secret', () => {
    const secret = 'tok-3f9c';
    const fields = Object.keys(RELEASE ?? {});
    for (const field of fields)
      expect(String(judge({ ...RELEASE, [field]: secret })?.message)).not.toContain(secret);
  });
});

describe('names that every object has by its prototype', () => {
  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])(
    '%s is an ordinary resource',
    (resource) => {
      const { ingest, events } = makeIngest();
      ingest.receive(
        batch({ app: resource, instance: resource, events: [{ ...RELEASE, resource } as LockEvent] }),
      );
      expect(events[0]?.event.resource).toBe(resource);
      expect(events[0]?.context.app).toBe(resource);
    },
  );

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString'])('%s is no kind', (kind) => {
    expect(judge({ ...RELEASE, kind })?.reason).toBe('unknown_kind');
  });

  it('as fields they are ignored, and change no prototype', () => {
    const event = JSON.parse(
      `{"__proto__":{"polluted":1},"constructor":1,${JSON.stringify(RELEASE).slice(1)}`,
    );
    expect(judge(event)).toBeUndefined();
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('a kind that comes by the prototype alone is none', () => {
    expect(judge(JSON.parse(`{"__proto__":${JSON.stringify(RELEASE)}}`))?.path).toBe('kind');
  });
});
