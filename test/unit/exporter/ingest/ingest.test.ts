import { describe, expect, it } from 'vitest';
import { SEQ_WINDOW } from '../../../../exporter/ingest/seq-window.js';
import { exampleBatch } from '../../../contract/examples.js';
import { answerOf, batch, commit, makeIngest, refusalOf } from './ingest-bench.js';

const bad = commit(false);

describe('a batch that is taken', () => {
  it('is answered with the epoch and its counts', () => {
    const { ingest } = makeIngest();
    const result = ingest.receive(batch({ events: [commit(), commit()] }));
    expect(result).toEqual({
      status: 200,
      answer: { epoch: 'epoch-1', accepted: 2, rejected: [], duplicate: false },
    });
  });

  it('hands on events in their order, then holds, then the heartbeat', () => {
    const { ingest, calls, holds } = makeIngest();
    const { holds: some, events } = exampleBatch();
    ingest.receive(batch({ holds: some, events: events.slice(0, 2), holdsMore: true }));
    expect(calls).toEqual(['acquire', 'acquire', 'holds', 'heartbeat']);
    expect(holds).toEqual([{ holds: some, complete: false }]);
  });

  it('says of a full set of holds that it is complete, also when it is empty', () => {
    const { ingest, holds } = makeIngest();
    ingest.receive(batch({ holds: [] }));
    expect(holds).toEqual([{ holds: [], complete: true }]);
  });

  it('without holds leaves the holds alone', () => {
    const { ingest, calls } = makeIngest();
    ingest.receive(batch());
    expect(calls).toEqual(['heartbeat']);
  });

  it('tells the ports where it came from, and when', () => {
    const { ingest, events, heartbeats, clock } = makeIngest();
    ingest.receive(batch({ serverId: 'abc', events: [commit()] }));
    expect(events[0]?.context).toEqual({
      store: 'orders',
      producer: 'producer-1',
      seq: 1,
      app: 'shop',
      instance: 'shop-1',
      startedAtMs: 1_796_000_000_000,
      sentAtMs: 1_796_000_001_000,
      serverId: 'abc',
      closing: false,
      receivedMonoMs: clock.monoMs(),
    });
    expect(heartbeats).toHaveLength(1);
  });

  it('may carry fields that this version does not know', () => {
    const { ingest, totals } = makeIngest();
    const body = { ...batch(), later: 1, events: [{ ...commit(), later: 1 }] };
    expect(answerOf(ingest.receive(body)).accepted).toBe(1);
    expect(totals.results).toEqual({ accepted: 1 });
  });
});

describe('a bad event', () => {
  it('costs only itself', () => {
    const { ingest, totals, events } = makeIngest();
    const answer = answerOf(ingest.receive(batch({ events: [commit(), bad, commit()] })));
    const rejected = [{ index: 1, path: 'sinceGrantMs', message: 'must be at least 0' }];
    expect(answer).toMatchObject({ accepted: 2, rejected, duplicate: false });
    expect(events).toHaveLength(2);
    expect(totals).toMatchObject({ received: 3, accepted: 2, rejected: 1, reasons: { out_of_range: 1 } });
  });

  it('does not spoil a batch that holds nothing else', () => {
    const { ingest, totals } = makeIngest();
    expect(answerOf(ingest.receive(batch({ events: [bad] }))).rejected).toHaveLength(1);
    expect(totals.results).toEqual({ accepted: 1 });
  });
});

describe('a resend', () => {
  it('repeats the first answer and changes nothing', () => {
    const { ingest, totals, events, heartbeats } = makeIngest();
    const body = batch({ events: [commit(), bad], dropped: { queue_full: 3 } });
    const first = answerOf(ingest.receive(body));
    expect(answerOf(ingest.receive(body))).toEqual({ ...first, duplicate: true });
    expect(events).toHaveLength(1);
    expect(heartbeats).toHaveLength(1);
    expect(totals).toMatchObject({ received: 4, accepted: 1, rejected: 1, duplicate: 2 });
    expect(totals.dropped).toEqual({ queue_full: 3 });
    expect(totals.results).toEqual({ accepted: 1, duplicate: 1 });
  });

  it('repeats the first answer though its body was changed', () => {
    const { ingest } = makeIngest();
    const first = answerOf(ingest.receive(batch({ events: [commit(), bad] })));
    const second = answerOf(ingest.receive(batch({ events: [commit(), commit(), commit()] })));
    expect(second).toEqual({ ...first, duplicate: true });
  });

  it('is recognised when others came in between', () => {
    const { ingest } = makeIngest();
    const seqs = [1, 2, 3, 2, 1, 4, 3];
    const duplicates = seqs.map((seq) => answerOf(ingest.receive(batch({ seq }))).duplicate);
    expect(duplicates).toEqual([false, false, false, true, true, false, true]);
  });

  it('so old that it cannot be told from a late batch is not counted again', () => {
    const { ingest, totals } = makeIngest();
    for (let seq = 1; seq <= SEQ_WINDOW + 1; seq += 1) ingest.receive(batch({ seq }));
    const answer = answerOf(ingest.receive(batch({ seq: 1, events: [commit(), bad] })));
    expect(answer).toMatchObject({ accepted: 1, rejected: [{ index: 1 }], duplicate: true });
    expect(totals).toMatchObject({ received: 2, accepted: 0, duplicate: 2 });
  });

  it('another producer may use the same number', () => {
    const { ingest } = makeIngest();
    ingest.receive(batch({ producer: 'producer-1' }));
    expect(answerOf(ingest.receive(batch({ producer: 'producer-2' }))).duplicate).toBe(false);
  });
});

describe('gaps in the numbers', () => {
  it('reordered batches within the window make none', () => {
    const { ingest, totals } = makeIngest();
    for (const seq of [1, 5, 3, 2, 4, 6]) ingest.receive(batch({ seq, events: [commit()] }));
    for (let seq = 7; seq < 200; seq += 1) ingest.receive(batch({ seq }));
    expect(totals).toMatchObject({ gaps: 0, accepted: 6 });
  });

  it('a hole counts when it leaves the window, not before', () => {
    const { ingest, totals } = makeIngest();
    ingest.receive(batch({ seq: 1 }));
    for (let seq = 3; seq <= 1 + SEQ_WINDOW; seq += 1) ingest.receive(batch({ seq }));
    expect(totals.gaps).toBe(0);
    ingest.receive(batch({ seq: 2 + SEQ_WINDOW }));
    expect(totals.gaps).toBe(1);
  });

  it('a hole counts when its producer is forgotten', async () => {
    const { ingest, totals, clock } = makeIngest();
    for (const seq of [1, 4]) ingest.receive(batch({ seq }));
    await clock.advance(3_600_001);
    ingest.forgetIdle();
    expect(totals).toMatchObject({ gaps: 2, forgotten: 1, producers: 0 });
  });

  it('what came before the first number seen is none: this exporter started later', () => {
    const { ingest, totals } = makeIngest();
    for (let seq = 50; seq < 200; seq += 1) ingest.receive(batch({ seq }));
    expect(totals.gaps).toBe(0);
  });

  it('a leap to an absurd number begins a new numbering instead of a huge count', () => {
    const { ingest, totals } = makeIngest();
    for (const seq of [1, 3, Number.MAX_SAFE_INTEGER]) ingest.receive(batch({ seq, events: [commit()] }));
    expect(totals).toMatchObject({ gaps: 1, accepted: 3 });
  });
});

describe('what a producer dropped', () => {
  it('is counted by its growth', () => {
    const { ingest, totals } = makeIngest();
    [{ queue_full: 2 }, { queue_full: 2 }, { queue_full: 7, shutdown: 1 }].forEach((dropped, n) => {
      ingest.receive(batch({ seq: n + 1, dropped }));
    });
    expect(totals.dropped).toEqual({ queue_full: 7, shutdown: 1 });
  });

  it('before this exporter first heard of it is where counting starts', () => {
    const { ingest, totals } = makeIngest();
    ingest.receive(batch({ seq: 9, dropped: { queue_full: 500 } }));
    ingest.receive(batch({ seq: 10, dropped: { queue_full: 501, refused: 1 } }));
    expect(totals.dropped).toEqual({ queue_full: 1, refused: 1 });
  });

  it('never counts down: late batches and bad clients report less than before', () => {
    const { ingest, totals } = makeIngest();
    [5, 3, 0, 6].forEach((queue_full, n) => {
      ingest.receive(batch({ seq: n + 1, dropped: { queue_full } }));
    });
    expect(totals.dropped).toEqual({ queue_full: 6 });
  });

  it('for reasons of a newer client is counted as other, all together', () => {
    const { ingest, totals } = makeIngest();
    ingest.receive(batch({ seq: 1, dropped: { constructor: 1, brand_new: 2 } as never }));
    ingest.receive(batch({ seq: 2, dropped: { constructor: 2, brand_new: 2 } as never }));
    expect(totals.dropped).toEqual({ other: 4 });
  });
});

describe('producers are bounded', () => {
  it('the least recently heard of is forgotten for a new one, and counted', () => {
    const { ingest, totals } = makeIngest({ maxProducers: 2 });
    for (const name of ['aaaaaaaa', 'bbbbbbbb']) ingest.receive(batch({ producer: name }));
    ingest.receive(batch({ producer: 'aaaaaaaa', seq: 2 }));
    ingest.receive(batch({ producer: 'cccccccc' }));
    expect(totals).toMatchObject({ producers: 2, forgotten: 1 });
    expect(answerOf(ingest.receive(batch({ producer: 'aaaaaaaa', seq: 2 }))).duplicate).toBe(true);
    expect(answerOf(ingest.receive(batch({ producer: 'bbbbbbbb', seq: 1 }))).duplicate).toBe(false);
  });

  it('one that was silent for an hour is forgotten with the next batch of any', async () => {
    const { ingest, totals, clock } = makeIngest();
    ingest.receive(batch({ producer: 'aaaaaaaa' }));
    await clock.advance(3_600_001);
    ingest.receive(batch({ producer: 'bbbbbbbb' }));
    expect(totals).toMatchObject({ producers: 1, forgotten: 1 });
  });

  it('a jump of the wall clock forgets none', () => {
    const { ingest, totals, clock } = makeIngest();
    ingest.receive(batch({ producer: 'aaaaaaaa' }));
    clock.jumpWall(86_400_000);
    ingest.receive(batch({ producer: 'bbbbbbbb' }));
    expect(totals.producers).toBe(2);
  });
});

describe('an emitter that keeps its name over a restart', () => {
  const restarted = { startedAtMs: 1_796_000_060_000 };

  it('begins a new numbering: its batches are not taken for resends', () => {
    const { ingest, totals } = makeIngest();
    for (const seq of [1, 2, 3]) ingest.receive(batch({ seq, dropped: { queue_full: 4 } }));
    const again = batch({ ...restarted, seq: 1, dropped: { queue_full: 1 }, events: [commit()] });
    expect(answerOf(ingest.receive(again)).duplicate).toBe(false);
    expect(totals.dropped).toEqual({ queue_full: 5 });
  });

  it('has a late batch of its earlier run counted as duplicate', () => {
    const { ingest, totals } = makeIngest();
    ingest.receive(batch({ ...restarted, seq: 1 }));
    const late = answerOf(ingest.receive(batch({ seq: 400, events: [commit()] })));
    expect(late).toMatchObject({ accepted: 1, duplicate: true });
    expect(totals).toMatchObject({ accepted: 0, duplicate: 1, gaps: 0 });
  });

  it('an inexact start is not another run', () => {
    const { ingest } = makeIngest();
    ingest.receive(batch({ seq: 1 }));
    expect(answerOf(ingest.receive(batch({ seq: 1, startedAtMs: 1_796_000_000_004 }))).duplicate).toBe(true);
  });
});

describe('a batch that is refused as a whole', () => {
  it('of another store: names both stores and both options', () => {
    const { ingest, totals, calls } = makeIngest();
    const refusal = refusalOf(ingest.receive(batch({ store: 'carts', events: [commit()] })));
    expect(refusal.id).toBe('wrong_store');
    for (const word of ['"carts"', '"orders"', "client's store", '--store carts'])
      expect(refusal.message).toContain(word);
    expect(totals).toMatchObject({ received: 0, results: { wrong_store: 1 } });
    expect(calls).toEqual([]);
  });

  it('leaves its number free, so that a mended batch can still come', () => {
    const { ingest } = makeIngest();
    ingest.receive(batch({ store: 'carts' }));
    ingest.receive({ ...batch(), app: '' });
    expect(answerOf(ingest.receive(batch())).duplicate).toBe(false);
  });

  it.each([
    ['a list', [batch()], 'one JSON object'],
    ['null', null, 'one JSON object'],
    ['text', 'hello', 'one JSON object'],
    ['no producer', { ...batch(), producer: undefined }, 'producer is missing'],
    ['a number as text', { ...batch(), seq: '1' }, 'seq must be a number, not text'],
    ['a number that is not whole', { ...batch(), seq: 1.5 }, 'seq must be a whole number'],
    ['seconds for milliseconds', { ...batch(), sentAtMs: 1_796_000_000 }, 'this looks like seconds'],
    ['a newer version', { ...batch(), v: 2 }, 'upgrade the exporter'],
    ['too many events', { ...batch(), events: Array(1001).fill(0) }, '1001 events, but at most 1000'],
    ['too many holds', { ...batch(), holds: Array(2001).fill(0) }, '2001 holds, but at most 2000'],
    ['a bad hold', { ...batch(), holds: [{ lock: 'x' }] }, 'holds.0.lock must be 16 lower-case hex digits'],
    [
      'a bad reason',
      { ...batch(), dropped: { 'A b': 1 } },
      'dropped.A b must have names of 1 to 32 of a-z _',
    ],
    [
      'a negative count',
      { ...batch(), dropped: { queue_full: -1 } },
      'dropped.queue_full must be at least 0',
    ],
  ])('%s', (_, body, words) => {
    const { ingest, totals } = makeIngest();
    const refusal = refusalOf(ingest.receive(body));
    expect(refusal.id).toBe('bad_envelope');
    expect(refusal.message).toContain(words);
    expect(totals.results).toEqual({ bad_envelope: 1 });
  });

  it('tells the first faults and how many more there are', () => {
    const message = refusalOf(makeIngest().ingest.receive({ v: 1 })).message;
    expect(message).toMatch(/producer is missing; .* is missing; .* is missing; and \d more$/);
  });
});

describe('a port that throws', () => {
  const boom = new Error('boom');
  const fail = () => {
    throw boom;
  };

  it('loses what it was handed and nothing else', () => {
    const { ingest, totals, faults } = makeIngest(
      {},
      { holds: { applyHolds: fail }, events: { applyEvent: fail } },
    );
    const answer = answerOf(ingest.receive(batch({ events: [commit(), commit()], holds: [] })));
    expect(answer.accepted).toBe(2);
    expect(totals.accepted).toBe(2);
    expect(faults).toEqual([boom, boom, boom]);
  });
});
