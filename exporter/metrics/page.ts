import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Metric, Registry } from 'prom-client';
import type { Clock } from '../../contract/clock.js';
import type { Child, SampleLine } from './children.js';
import type { FamilySpec } from './family-spec.js';

/** A piece of the page ends after this time, so that nothing else waits longer. */
export const PIECE_MS = 5;
/** A piece of the page ends after so many lines in any case, to bound its memory (about 100 KB). */
export const LINES_PER_PIECE = 1000;
/** Lines between two looks at the clock: 0.1 ms of work, 3 ms before the code is compiled. */
const LINES_PER_SLICE = 100;

/** What the page needs of a family. */
export interface PageFamily {
  readonly spec: FamilySpec;
  readonly children: readonly Child[];
}

/** What a page is made of. */
export interface PageParts {
  readonly families: readonly PageFamily[];
  /** Rendered after the families, when given. */
  readonly processRegistry?: Registry | undefined;
  /** Called with the name of a family that could not be rendered. */
  onRenderError(family: string): void;
}

/**
 * Renders the page in pieces of about {@link PIECE_MS}, with a turn of the event loop after each. The children, and
 * what is still held back of them, are those of the moment it begins; values are read slice by slice, each child as
 * a whole.
 */
export async function* renderPage(parts: PageParts, clock: Pick<Clock, 'monoMs'>): AsyncGenerator<string> {
  let startMs = clock.monoMs();
  let piece = '';
  let lines = 0;
  for await (const part of renderParts(parts, startMs)) {
    piece += part.text;
    lines += part.lines;
    if (lines < LINES_PER_PIECE && clock.monoMs() - startMs < PIECE_MS) continue;
    yield piece;
    await nextTurn();
    piece = '';
    lines = 0;
    startMs = clock.monoMs();
  }
  if (piece !== '') yield piece;
}

interface Part {
  readonly text: string;
  readonly lines: number;
}

async function* renderParts(parts: PageParts, nowMs: number): AsyncGenerator<Part> {
  const snapshots = parts.families.map((family) => snapshotOf(family, parts.onRenderError));
  for (const snapshot of snapshots) {
    if (snapshot !== undefined)
      yield* guarded(snapshot.spec.name, parts, () => renderFamily(snapshot, nowMs));
  }
  const registry = parts.processRegistry;
  for (const { name } of registry?.getMetricsAsArray() ?? []) {
    yield* guarded(name, parts, () => renderRegistered(registry, name));
  }
}

/** One family that fails costs only itself. */
async function* guarded(
  name: string,
  parts: PageParts,
  render: () => AsyncGenerator<Part>,
): AsyncGenerator<Part> {
  try {
    yield* render();
  } catch {
    parts.onRenderError(name);
  }
}

function snapshotOf(family: PageFamily, onError: (name: string) => void): PageFamily | undefined {
  try {
    return { spec: family.spec, children: family.children.slice() };
  } catch {
    onError(family.spec.name);
    return undefined;
  }
}

async function* renderFamily({ spec, children }: PageFamily, nowMs: number): AsyncGenerator<Part> {
  let lines: SampleLine[] = [];
  let header = true;
  for (const child of children) {
    child.appendLines(lines, nowMs);
    if (lines.length < LINES_PER_SLICE) continue;
    yield await renderLines(spec, lines, header);
    lines = [];
    header = false;
  }
  if (header || lines.length > 0) yield await renderLines(spec, lines, header);
}

async function* renderRegistered(registry: Registry | undefined, name: string): AsyncGenerator<Part> {
  const text = await registry?.getSingleMetricAsString(name);
  if (text !== undefined) yield { text: `${text}\n`, lines: text.split('\n').length };
}

/**
 * Lets prom-client escape and format. It renders whole families by name only, so each slice is registered, as an
 * object with the few members that rendering reads, in a registry of its own.
 */
async function renderLines(spec: FamilySpec, lines: readonly SampleLine[], header: boolean): Promise<Part> {
  const { name, help, type } = spec;
  const slice = { name, help, type, aggregator: 'sum', get: () => ({ name, help, type, values: lines }) };
  const registry = new Registry();
  registry.registerMetric(slice as unknown as Metric);
  const text = await registry.getSingleMetricAsString(name);
  return { text: `${header ? text : withoutHeader(text)}\n`, lines: lines.length };
}

/** HELP and TYPE are one line each: prom-client escapes line breaks. */
function withoutHeader(text: string): string {
  return text.slice(text.indexOf('\n', text.indexOf('\n') + 1) + 1);
}
