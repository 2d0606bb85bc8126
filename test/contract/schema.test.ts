import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  ACQUIRE_OUTCOMES,
  batchSchema,
  CHECK_OUTCOMES,
  contractJsonSchemas,
  DUPLICATE_OUTCOMES,
  EVENT_KINDS,
  envelopeSchema,
  eventSchema,
  FENCE_OUTCOMES,
  MAX_LEASE_MS,
  RELEASE_OUTCOMES,
  RENEW_OUTCOMES,
} from '../../contract/index.js';
import { EXAMPLE_EVENTS, exampleBatch } from './examples.js';

const ALL = Object.values(EXAMPLE_EVENTS).flat();

/** The fields that a valid event may lack. */
const OPTIONAL = [
  'serverUs',
  'lateMs',
  'serverId',
  'fence',
  'latestFence',
  'latestGrantUs',
  'reason',
  'owner',
  'keyBase64',
  'traceId',
  'settledUs',
];

describe('events', () => {
  it.each(ALL.map((event) => [event.kind, 'outcome' in event ? event.outcome : '', event] as const))(
    'the example %s %s is valid and keeps every field',
    (_kind, _outcome, event) => {
      expect(eventSchema.parse(event)).toEqual(event);
    },
  );

  it('every outcome of every kind is accepted', () => {
    const lists = {
      renew: RENEW_OUTCOMES,
      check: CHECK_OUTCOMES,
      release: RELEASE_OUTCOMES,
      fence: FENCE_OUTCOMES,
      duplicate: DUPLICATE_OUTCOMES,
    };
    for (const [kind, outcomes] of Object.entries(lists)) {
      const [example] = EXAMPLE_EVENTS[kind as keyof typeof lists];
      for (const outcome of outcomes) {
        const reason = ['error', 'unknown'].includes(outcome) ? { reason: 'connection' } : {};
        const event = { ...example, ...reason, outcome };
        expect(eventSchema.safeParse(event).success, `${kind} ${outcome}`).toBe(true);
      }
    }
    expect(EXAMPLE_EVENTS.acquire.map((event) => 'outcome' in event && event.outcome)).toEqual([
      ...ACQUIRE_OUTCOMES,
    ]);
    expect(Object.keys(EXAMPLE_EVENTS)).toEqual(EVENT_KINDS);
  });

  it.each(ALL.map((event) => [event.kind, event] as const))(
    '%s: each required field is missed',
    (_kind, event) => {
      for (const name of Object.keys(event).filter((key) => !OPTIONAL.includes(key))) {
        const { [name as keyof typeof event]: _, ...rest } = event;
        expect(eventSchema.safeParse(rest).success, `without ${name}`).toBe(false);
      }
    },
  );

  // C1, C2 (sagemathinc/cocalc#5142, prometheus/client_js#150), E5 (prometheus/prometheus#2530).
  it.each([
    ['renewals', -3],
    ['renewals', 1.5],
    ['holdMs', null],
    ['holdMs', '191'],
    ['holdMs', Number.NaN],
    ['holdMs', -1],
    ['holdMs', 1e15],
    ['peakUse', Number.POSITIVE_INFINITY],
    ['leaseMs', 0],
    ['leaseMs', MAX_LEASE_MS + 1],
    ['lock', 'XYZ'],
    ['lock', 'lock:stock:1'],
    ['owner', '0123456789ABCDEF'],
    ['resource', ''],
    ['resource', 'a\nb'],
    ['resource', 'x'.repeat(65)],
    ['fence', 0],
    ['fence', 2 ** 53],
    ['atMs', 1_796_000_000],
    ['atMs', '2026-11-30T00:00:00Z'],
    ['outcome', 'renewed'],
    ['kind', 'constructor'],
  ])('a release with %s = %j is refused', (name, value) => {
    const [release] = EXAMPLE_EVENTS.release;
    expect(eventSchema.safeParse({ ...release, [name]: value }).success).toBe(false);
  });

  it('an acquire takes only the reasons of its outcome, and an acquired one names its owner', () => {
    const [acquired, contended, timeout] = EXAMPLE_EVENTS.acquire;
    expect(eventSchema.safeParse({ ...timeout, reason: 'readonly' }).success).toBe(false);
    expect(eventSchema.safeParse({ ...contended, outcome: 'error' }).success).toBe(false);
    expect(eventSchema.safeParse({ ...acquired, owner: undefined }).success).toBe(false);
  });

  it('an unknown field is ignored, __proto__ included, so that a newer client may post to an older exporter', () => {
    const [commit] = EXAMPLE_EVENTS.commit;
    const text = JSON.stringify({ ...commit, later: 1 }).replace('{', '{"__proto__":{"polluted":1},');
    expect(eventSchema.parse(JSON.parse(text))).toEqual(commit);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('batches', () => {
  it('the example is valid, read whole or with its events unread', () => {
    expect(batchSchema.parse(exampleBatch())).toEqual(exampleBatch());
    expect(envelopeSchema.parse(exampleBatch())).toEqual(exampleBatch());
  });

  it.each([
    ['v', 2],
    ['producer', 'short'],
    ['producer', 'has space in it'],
    ['seq', 0],
    ['store', 'a b'],
    ['app', ''],
    ['dropped', { queue_full: -1 }],
    ['dropped', null],
    ['events', {}],
    ['events', new Array(1001).fill(0)],
    ['holds', [{ lock: 'no' }]],
  ])('an envelope with %s = %j is refused', (name, value) => {
    expect(envelopeSchema.safeParse({ ...exampleBatch(), [name]: value }).success).toBe(false);
  });
});

describe('published JSON Schema', () => {
  it('is derived for every kind, with every field of the examples', () => {
    const text = JSON.stringify(contractJsonSchemas().batch);
    const fields = new Set(ALL.flatMap((event) => Object.keys(event)));
    for (const name of fields) expect(text).toContain(`"${name}"`);
    for (const kind of EVENT_KINDS) expect(text).toContain(`"const":"${kind}"`);
  });

  it('says of an example, and of the example spoilt, what the exporter says', () => {
    const validate = new Ajv2020({ strict: false, allErrors: true }).compile(contractJsonSchemas().batch);
    expect(validate(exampleBatch()), JSON.stringify(validate.errors)).toBe(true);
    for (const event of ALL) {
      for (const name of Object.keys(event)) {
        const batch = { ...exampleBatch(), events: [{ ...event, [name]: -1 }] };
        expect(validate(batch), `${event.kind} with ${name} = -1`).toBe(batchSchema.safeParse(batch).success);
      }
    }
  });

  it('lets unknown fields pass, as the exporter does', () => {
    expect(JSON.stringify(contractJsonSchemas().batch)).not.toContain('"additionalProperties":false');
  });
});
