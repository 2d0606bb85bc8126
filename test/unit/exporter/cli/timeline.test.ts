import { describe, expect, it } from 'vitest';
import { type ExporterRequest, printTimeline } from '../../../../exporter/cli/timeline-command.js';
import type { ShownEntry } from '../../../../exporter/cli/timeline-entry.js';
import { timelineText } from '../../../../exporter/cli/timeline-text.js';

const LOCK = '0123456789abcdef';
const A = { owner: 'aaaaaaaaaaaaaaaa', fence: 100, serverId: 's1', atMs: 1_796_000_000_000 } as const;
const B = { ...A, owner: 'bbbbbbbbbbbbbbbb', fence: 101 } as const;
const START_US = 1_796_000_000_000_000;

const overlap: ShownEntry[] = [
  { ...A, kind: 'acquire', outcome: 'acquired', serverUs: START_US, leaseMs: 300, spanMs: 2 },
  { ...B, kind: 'acquire', outcome: 'acquired', serverUs: START_US + 300_000, leaseMs: 300, spanMs: 290 },
  { ...A, kind: 'lost', outcome: 'deadline', leaseMs: 300, spanMs: 500 },
  {
    ...A,
    kind: 'release',
    outcome: 'stolen',
    serverUs: START_US + 600_000,
    settledUs: START_US + 600_000,
    leaseMs: 300,
  },
];

describe('a timeline as text', () => {
  it('shows two holds that overlap, on one scale', () => {
    const text = timelineText({ store: 'orders', lock: LOCK, entries: overlap });
    const bars = text.split('\n').filter((line) => line.includes('|'));
    expect(bars).toEqual([
      `aaaaaaaa  |${'#'.repeat(30)}${'!'.repeat(30)}|  fence 100`,
      `bbbbbbbb  |${' '.repeat(30)}${'#'.repeat(30)}|  fence 101`,
    ]);
    expect(text).toContain(
      '     300.000  bbbbbbbb  acquire acquired          fence 101, lease 300 ms, waited 290 ms',
    );
    expect(text).toContain('lost deadline');
  });

  it('keeps the clocks of two servers apart, and says so', () => {
    const moved = { ...B, kind: 'acquire', outcome: 'acquired', serverId: 's2', serverUs: 5, leaseMs: 1 };
    const text = timelineText({ store: 'orders', lock: LOCK, entries: [...overlap, moved] });
    expect(text).toContain('Several servers: their clocks are not compared.');
    expect(text.match(/^Server s[12]/gm)).toEqual(['Server s1', 'Server s2']);
  });

  it('has one server, though a finding or an event names none', () => {
    const nameless: ShownEntry[] = [
      { kind: 'abandoned', owner: A.owner, atMs: A.atMs },
      { kind: 'overlap_end', owner: A.owner, atMs: A.atMs, settledUs: START_US + 600_000, spanMs: 300 },
    ];
    const text = timelineText({ store: 'orders', lock: LOCK, entries: [...overlap, ...nameless] });
    expect(text.match(/^Server /gm)).toHaveLength(1);
    expect(text).not.toContain('Several servers');
    expect(text).toMatch(/- {2}aaaaaaaa {2}abandoned .*by the exporter/);
  });

  it('sorts in what Redis gave no time to: since the grant, or by the clock of the same client', () => {
    const wallMs = A.atMs - 3_600_000;
    const client = { producer: 'p' } as const;
    const entries: ShownEntry[] = [
      ...overlap.map((entry) => ({ ...entry, ...client, atMs: wallMs + (entry.spanMs ?? 0) })),
      { ...A, ...client, kind: 'fence', outcome: 'rejected', atMs: wallMs + 452 },
      { ...A, producer: 'another', kind: 'duplicate', outcome: 'absorbed', atMs: wallMs },
    ];
    const lines = timelineText({ store: 'orders', lock: LOCK, entries }).split('\n');
    const shown = lines.filter((line) => /acquire|lost|fence r|release|duplicate/.test(line));
    expect(shown.map((line) => line.replace(/^ +/, '').split(/ +/).slice(0, 3).join(' '))).toEqual([
      '0.000 aaaaaaaa acquire',
      '300.000 bbbbbbbb acquire',
      '~462 aaaaaaaa fence',
      '~500 aaaaaaaa lost',
      '600.000 aaaaaaaa release',
      '- aaaaaaaa duplicate',
    ]);
    expect(lines.at(2)).toContain('~ by the client’s clock');
  });

  it('explains the bars and the cause, and shows the scale', () => {
    const found: ShownEntry[] = [
      { ...A, kind: 'overlap', outcome: 'slow_work', serverUs: START_US + 300_000, latestFence: 101 },
    ];
    const text = timelineText({ store: 'orders', lock: LOCK, entries: [...overlap, ...found] });
    expect(text).toContain('# work under the lease, ! work beyond it, > not known to have ended');
    const scale = text.split('\n').find((line) => line.endsWith('600.000 ms'));
    expect(scale).toHaveLength('aaaaaaaa  |'.length + 60);
    expect(scale?.indexOf('0')).toBe('aaaaaaaa  |'.length);
    expect(text).toContain('probably slow work: the process ran, the work took longer than the lease');
    expect(text).not.toContain('slow_work');
  });

  it('names everybody who was granted the lock in an overlap, at the time of the first', () => {
    const others = Array.from({ length: 10 }, (_, n) => ({
      ...{ ...B, owner: String(n).repeat(16), fence: 101 + n, kind: 'acquire', outcome: 'acquired' },
      serverUs: START_US + 300_000 + n * 10_000,
      leaseMs: 5,
    }));
    const after = { ...B, kind: 'acquire', outcome: 'acquired', serverUs: START_US + 600_000, leaseMs: 5 };
    const found = { ...A, kind: 'overlap', outcome: 'pause', serverUs: START_US + 300_000, latestFence: 101 };
    const entries = [overlap[0], ...others, after, overlap[3], found].flatMap((entry) => entry ?? []);
    const lines = timelineText({ store: 'orders', lock: LOCK, entries }).split('\n');
    const line = lines.find((one) => one.includes('overlap'));
    expect(line).toMatch(/^ +300\.000 /);
    expect(line).toContain('granted meanwhile: 00000000 (fence 101), 11111111 (fence 102), ');
    expect(line).toContain('77777777 (fence 108) and 2 more');
    expect(line).not.toContain('bbbbbbbb');
  });

  it('says so when nothing is remembered', () => {
    expect(timelineText({ store: 'orders', lock: LOCK, entries: [] })).toContain('nothing is remembered');
  });
});

describe('redis-lock-exporter timeline', () => {
  const runWith = async (argv: string[], answer: { status: number; text: string } | Error) => {
    const asked: ExporterRequest[] = [];
    const said = { out: '', error: '' };
    const status = await printTimeline(argv, {
      ask: async (request) => {
        asked.push(request);
        if (answer instanceof Error) throw answer;
        return answer;
      },
      readFile: () => 'secret\n',
      writeOut: (text) => {
        said.out += text;
      },
      writeError: (text) => {
        said.error += text;
      },
    });
    return { status, asked, ...said };
  };
  const good = { status: 200, text: JSON.stringify({ store: 'orders', lock: LOCK, entries: overlap }) };

  it('asks by id in the address, by key in the body', async () => {
    const address = '127.0.0.1:9723';
    expect((await runWith([LOCK], good)).asked).toEqual([{ address, path: `/api/v1/timeline?lock=${LOCK}` }]);
    expect((await runWith(['lock:stock:1'], good)).asked).toEqual([
      { address, path: '/api/v1/timeline', body: { key: 'lock:stock:1' } },
    ]);
  });

  it('takes another exporter and a token', async () => {
    const argv = [LOCK, '--exporter', 'unix:/run/locks.sock', '--token-file', 'token'];
    const { asked, status, out } = await runWith(argv, good);
    expect(asked).toMatchObject([{ address: 'unix:/run/locks.sock', token: 'secret' }]);
    expect([status, out.startsWith(`Lock ${LOCK}`)]).toEqual([0, true]);
  });

  it.each([[[]], [['--exporter', 'a']], [[LOCK, '--nonsense', 'a']], [[LOCK, '--exporter']]])(
    '%o: says how it is used',
    async (argv) => {
      expect(await runWith(argv, good)).toMatchObject({
        status: 2,
        asked: [],
        error: expect.stringContaining('Usage'),
      });
    },
  );

  it('--help says it, too, with status 0', async () => {
    expect(await runWith(['--help'], good)).toMatchObject({
      status: 0,
      asked: [],
      out: expect.stringContaining('Usage'),
    });
  });

  it('says why there is no answer', async () => {
    expect(await runWith([LOCK], new Error('connect ECONNREFUSED'))).toMatchObject({
      status: 1,
      error: expect.stringContaining('ECONNREFUSED'),
    });
    const refusal = { status: 401, text: '{"error":{"id":"unauthorized","message":"The token is wrong"}}' };
    expect(await runWith([LOCK], refusal)).toMatchObject({
      status: 1,
      error: expect.stringContaining('The token is wrong'),
    });
  });
});
