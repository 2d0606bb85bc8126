import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerSchema, refusalSchema } from '../../../../contract/batch.js';
import { SEQ_WINDOW } from '../../../../exporter/ingest/seq-window.js';
import { exampleBatch } from '../../../contract/examples.js';
import { answerOf, batch, commit, type IngestBench, makeIngest } from './ingest-bench.js';

/** What a client sends under one number, resends included. */
interface Sent {
  good: number;
  bad: number;
  dropped: number;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  good: fc.nat({ max: 3 }),
  bad: fc.nat({ max: 2 }),
  dropped: fc.nat({ max: 9 }),
});

/** A run of one client: its batches in order, `dropped` as an increment, and the numbers in order of delivery. */
const run = fc.array(sent, { minLength: 1, maxLength: 300 }).chain((batches) =>
  fc.record({
    batches: fc.constant(batches),
    delivered: fc.oneof(
      fc.array(fc.integer({ min: 1, max: batches.length }), { minLength: 1, maxLength: 400 }),
      nearlyInOrder(batches.length),
    ),
  }),
);

/** Most numbers come in order, a few are lost, doubled, or late by some places. */
function nearlyInOrder(count: number): fc.Arbitrary<number[]> {
  const fate = fc.oneof(
    { weight: 8, arbitrary: fc.constant([0]) },
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 3 }) },
  );
  return fc
    .array(fate, { minLength: count, maxLength: count })
    .map((fates) => fates.flatMap((lateBy, n) => lateBy.map((late) => ({ seq: n + 1, at: n + late }))))
    .map((places) => places.sort((a, b) => a.at - b.at).map(({ seq }) => seq))
    .filter((seqs) => seqs.length > 0);
}

/** The rules again, in the slow and plain way: the taken numbers are kept for ever. */
class Model {
  readonly taken = new Map<number, Sent>();
  first = 0;
  highest = 0;
  duplicates = 0;
  dropped = 0;
  #droppedSeen = 0;

  deliver(seq: number, what: Sent, droppedSoFar: number): boolean {
    if (this.first === 0) {
      this.first = seq;
      if (seq > 1) this.#droppedSeen = droppedSoFar;
    }
    if (this.taken.has(seq) || seq <= this.highest - SEQ_WINDOW) {
      this.duplicates += what.good + what.bad;
      return false;
    }
    this.taken.set(seq, what);
    this.highest = Math.max(this.highest, seq);
    this.dropped += Math.max(0, droppedSoFar - this.#droppedSeen);
    this.#droppedSeen = Math.max(droppedSoFar, this.#droppedSeen);
    return true;
  }

  sum(part: 'good' | 'bad'): number {
    return [...this.taken.values()].reduce((sum, one) => sum + one[part], 0);
  }

  /** Numbers since the first one seen that never came, or came too late. */
  gaps(): number {
    let gaps = 0;
    for (let seq = this.first; seq <= this.highest; seq += 1) gaps += this.taken.has(seq) ? 0 : 1;
    return gaps;
  }
}

function bodyOf(seq: number, what: Sent, queueFull: number) {
  const events = [...Array(what.good).fill(commit()), ...Array(what.bad).fill(commit(false))];
  return batch({ seq, events, dropped: { queue_full: queueFull } });
}

function expectLaw({ totals, events }: IngestBench): void {
  expect(totals.received).toBe(totals.accepted + totals.rejected + totals.duplicate);
  expect(events).toHaveLength(totals.accepted);
}

describe('whatever is lost, doubled or late on the way', () => {
  it('events, resends, gaps and drops are counted as the plain rules say', async () => {
    const property = fc.asyncProperty(run, async ({ batches, delivered }) => {
      const bench = makeIngest();
      const model = new Model();
      let droppedSoFar = 0;
      const cumulative = batches.map((one) => (droppedSoFar += one.dropped));
      for (const seq of delivered) {
        const what = batches[seq - 1] ?? { good: 0, bad: 0, dropped: 0 };
        const total = cumulative[seq - 1] ?? 0;
        const answer = answerOf(bench.ingest.receive(bodyOf(seq, what, total)));
        expect(answer.duplicate).toBe(!model.deliver(seq, what, total));
        expect([answer.accepted, answer.rejected.length]).toEqual([what.good, what.bad]);
        expect(bench.totals.gaps).toBeLessThanOrEqual(model.gaps());
      }
      await bench.clock.advance(3_600_001);
      bench.ingest.forgetIdle();
      expectLaw(bench);
      expect(bench.totals).toMatchObject({
        accepted: model.sum('good'),
        rejected: model.sum('bad'),
        duplicate: model.duplicates,
        gaps: model.gaps(),
      });
      expect(bench.totals.dropped.queue_full ?? 0).toBe(model.dropped);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('a client that has each of its events answered can settle its account', () => {
    const property = fc.property(run, ({ batches, delivered }) => {
      const { ingest, totals } = makeIngest();
      const emitted = new Set(delivered);
      const settled = new Map<number, number>();
      for (const seq of delivered) {
        const what = batches[seq - 1] ?? { good: 0, bad: 0, dropped: 0 };
        const { accepted, rejected } = answerOf(ingest.receive(bodyOf(seq, what, 0)));
        settled.set(seq, accepted + rejected.length);
      }
      const sizes = [...emitted].map((seq) => (batches[seq - 1]?.good ?? 0) + (batches[seq - 1]?.bad ?? 0));
      const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);
      expect(sum(settled.values())).toBe(sum(sizes));
      expect(totals.accepted + totals.rejected).toBeLessThanOrEqual(sum(sizes));
    });
    fc.assert(property, { numRuns: 30 });
  });
});

describe('whatever is posted', () => {
  /** Any JSON, with names that an object has by its prototype. */
  const anyJson = fc.oneof(
    fc.jsonValue({ noUnicodeString: false }),
    fc
      .tuple(fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', 'toString'), fc.jsonValue())
      .map(([name, value]) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as unknown),
  );

  /** A valid batch in which some values, at any depth, are replaced. */
  const spoilt = fc
    .array(fc.tuple(fc.nat(), anyJson), { minLength: 1, maxLength: 4 })
    .map((changes) =>
      changes.reduce<unknown>((body, [at, value]) => replaceAt(body, at, value), exampleBody()),
    );

  it.each([
    ['any JSON', anyJson],
    [
      'a batch with anything in it',
      fc
        .tuple(fc.constantFrom('events', 'holds', 'dropped', 'v'), anyJson)
        .map(([name, value]) => ({ ...exampleBody(), [name]: value })),
    ],
    ['a batch of anything', fc.array(anyJson).map((events) => ({ ...exampleBody(), events }))],
    ['a spoilt batch', spoilt],
  ])(
    '%s is answered or refused in the words of the contract, and every event is accounted for',
    (_, bodies) => {
      const property = fc.property(fc.array(bodies, { minLength: 1, maxLength: 5 }), (posted) => {
        const bench = makeIngest();
        for (const body of posted) {
          const result = bench.ingest.receive(body);
          const schema = result.status === 200 ? answerSchema : refusalSchema;
          schema.parse(result.status === 200 ? result.answer : result.refusal);
        }
        expectLaw(bench);
        expect(bench.faults).toEqual([]);
        for (const { event } of bench.events) expect(JSON.stringify(event)).not.toContain('null');
        expect(Reflect.get({}, 'polluted')).toBeUndefined();
      });
      fc.assert(property, { numRuns: 300 });
    },
  );

  function exampleBody(): object {
    return { ...exampleBatch(), store: 'orders' };
  }

  /** A copy of `body` whose n-th inner value, counted over all depths and around, is `value`. */
  function replaceAt(body: unknown, at: number, value: unknown): unknown {
    const copy: unknown = JSON.parse(JSON.stringify(body));
    const places: (() => void)[] = [];
    const walk = (node: unknown) => {
      if (typeof node !== 'object' || node === null) return;
      for (const key of Object.keys(node)) {
        places.push(() => Reflect.set(node, key, value));
        walk(Reflect.get(node, key));
      }
    };
    walk(copy);
    places[at % Math.max(1, places.length)]?.();
    return copy;
  }
});
