import { describe, expect, it } from 'vitest';
import type { Child } from '../../../../exporter/metrics/children.js';
import { CounterFamily, type FamilySettings, GaugeFamily } from '../../../../exporter/metrics/families.js';
import type { FamilySpec } from '../../../../exporter/metrics/family-spec.js';
import { LINES_PER_PIECE, type PageFamily, PIECE_MS, renderPage } from '../../../../exporter/metrics/page.js';
import { createProcessRegistry } from '../../../../exporter/metrics/process-families.js';

const SETTINGS: FamilySettings = { nowMs: () => 0, firstIncrementHoldMs: 0, onRefused: () => {} };
/** Time stands still: pieces end by their lines alone. */
const STILL = { monoMs: () => 0 };
const SPEC: FamilySpec = {
  name: 'a_total',
  type: 'counter',
  help: 'Help with a \\ and a\nline break.',
  unit: 'count',
  labels: ['word'],
  source: 'exporter',
  birth: 'eager',
  stability: 'stable',
};

function counters(name: string, count: number): CounterFamily {
  const family = new CounterFamily({ ...SPEC, name }, SETTINGS);
  for (let index = 0; index < count; index += 1) family.child([`w${index}`]).inc(index);
  return family;
}

async function collect(families: readonly PageFamily[], onRenderError: (name: string) => void = () => {}) {
  const pieces: string[] = [];
  for await (const piece of renderPage({ families, onRenderError }, STILL)) pieces.push(piece);
  return pieces;
}

describe('the page', () => {
  it('escapes help texts and shows families without children', async () => {
    const [text] = await collect([counters('a_total', 1), counters('b_total', 0)]);
    expect(text).toBe(
      [
        '# HELP a_total Help with a \\\\ and a\\nline break.',
        '# TYPE a_total counter',
        'a_total{word="w0"} 0',
        '# HELP b_total Help with a \\\\ and a\\nline break.',
        '# TYPE b_total counter',
        '',
      ].join('\n'),
    );
  });

  it('cuts a big family into bounded pieces under one header, nothing lost, nothing twice', async () => {
    const pieces = await collect([counters('a_total', 2600)]);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) expect(piece.split('\n').length).toBeLessThan(1.2 * LINES_PER_PIECE);
    const lines = pieces.join('').trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('#'))).toHaveLength(2);
    expect(lines.slice(2)).toEqual(
      Array.from({ length: 2600 }, (_, index) => `a_total{word="w${index}"} ${index}`),
    );
  });

  it('gives the event loop a turn after each piece', async () => {
    let turns = 0;
    let going = true;
    const turn = () => {
      turns += 1;
      if (going) setImmediate(turn);
    };
    setImmediate(turn);
    const seen: number[] = [];
    for await (const _ of renderPage(
      { families: [counters('a_total', 2600)], onRenderError: () => {} },
      STILL,
    )) {
      seen.push(turns);
    }
    going = false;
    expect(seen.length).toBeGreaterThan(2);
    for (const [index, count] of seen.slice(1).entries()) expect(count).toBeGreaterThan(seen[index] ?? 0);
  });

  it('ends a piece as soon as it took too long, however few its lines', async () => {
    let nowMs = 0;
    const slow = { monoMs: () => (nowMs += PIECE_MS) };
    const parts = { families: [counters('a_total', 600)], onRenderError: () => {} };
    const sizes: number[] = [];
    for await (const piece of renderPage(parts, slow)) sizes.push(piece.split('\n').length);
    expect(sizes.length).toBeGreaterThanOrEqual(6);
    expect(Math.max(...sizes)).toBeLessThan(110);
  });

  it('gathers small families into one piece instead of a turn for each', async () => {
    const families = Array.from({ length: 40 }, (_, index) => counters(`f${index}_total`, 3));
    expect(await collect(families)).toHaveLength(1);
  });

  it('shows one sample on one page, also when the next is published while it renders', async () => {
    const first = new GaugeFamily({ ...SPEC, name: 'first', type: 'gauge', labels: ['store'] }, SETTINGS);
    const second = new GaugeFamily({ ...SPEC, name: 'second', type: 'gauge', labels: ['store'] }, SETTINGS);
    const publish = (value: number) => {
      for (const family of [first, second]) family.publish('s', [{ values: ['s'], value }]);
    };
    publish(1);
    let text = '';
    const families = [first, counters('a_total', 2000), second];
    for await (const piece of renderPage({ families, onRenderError: () => {} }, STILL)) {
      if (text === '') publish(2);
      text += piece;
    }
    expect(text.match(/^(first|second)\{.*$/gm)).toEqual(['first{store="s"} 1', 'second{store="s"} 1']);
  });

  // C5: element-hq/synapse#20214, prometheus/node_exporter#514.
  it('leaves a family that throws out, counts it, and shows all the others (C5)', async () => {
    const broken: Child = {
      labels: {},
      appendLines: () => {
        throw new Error('broken child');
      },
    };
    const unreadable: PageFamily = {
      spec: { ...SPEC, name: 'unreadable' },
      get children(): readonly Child[] {
        throw new Error('broken family');
      },
    };
    const failed: string[] = [];
    const families = [
      counters('a_total', 1),
      { spec: { ...SPEC, name: 'broken_total' }, children: [broken] },
      unreadable,
      counters('b_total', 1),
    ];
    const text = (await collect(families, (name) => failed.push(name))).join('');
    expect(text.match(/^[a-z_]+\{/gm)).toEqual(['a_total{', 'b_total{']);
    expect(text).not.toMatch(/broken|unreadable/);
    expect(failed.sort()).toEqual(['broken_total', 'unreadable']);
  });

  it('goes on when a process default throws or rejects', async () => {
    const registry = createProcessRegistry();
    const names = ['process_open_fds', 'process_heap_bytes'];
    for (const [index, name] of names.entries()) {
      const metric = registry.getSingleMetric(name) as unknown as { get(): unknown };
      metric.get = () => {
        if (index === 0) throw new Error('no /proc');
        return Promise.reject(new Error('no /proc'));
      };
    }
    const failed: string[] = [];
    let text = '';
    const parts = {
      families: [],
      processRegistry: registry,
      onRenderError: (name: string) => failed.push(name),
    };
    for await (const piece of renderPage(parts, STILL)) text += piece;
    expect(failed.sort()).toEqual(names.sort());
    expect(text).toContain('\nnodejs_version_info{');
  });

  it('stops rendering when the reader goes away', async () => {
    let read = 0;
    const child: Child = {
      labels: {},
      appendLines: (lines) => (read += lines.push({ value: 1, labels: {}, sharedLabels: {} })),
    };
    const family = { spec: SPEC, children: Array.from({ length: 5000 }, () => child) };
    for await (const _ of renderPage({ families: [family], onRenderError: () => {} }, STILL)) break;
    expect(read).toBeGreaterThan(0);
    const after = read;
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBe(after);
  });

  // Two Prometheus servers, or a person beside one. The second page of prom-client's own has NaN.
  it('has a number for each of Node’s own figures, however close two pages come together', async () => {
    const registry = createProcessRegistry();
    await registry.metrics();
    for (let page = 0; page < 3; page += 1) expect(await registry.metrics()).not.toMatch(/ nan$/im);
  });
});
