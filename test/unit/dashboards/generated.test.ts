import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { jsonText } from '../../../dashboards/source/json-text.js';
import { dashboardFiles } from '../../../dashboards/source/outputs.js';

const DASHBOARDS = fileURLToPath(new URL('../../../dashboards', import.meta.url));
const FOLDERS = ['generated', 'import'];

function filesOnDisk(): Map<string, string> {
  const names = FOLDERS.flatMap((folder) =>
    readdirSync(join(DASHBOARDS, folder)).map((name) => `${folder}/${name}`),
  );
  return new Map(names.map((name) => [name, readFileSync(join(DASHBOARDS, name), 'utf8')]));
}

/** Files that differ from what the sources give now. */
function differences(made: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string[] {
  return [...new Set([...made.keys(), ...found.keys()])].filter((name) => made.get(name) !== found.get(name));
}

describe('the generated dashboards', () => {
  it('are what the sources give; else run npm run dashboards', () => {
    expect(differences(dashboardFiles(), filesOnDisk())).toEqual([]);
  });

  it('come out the same each time', () => {
    expect(dashboardFiles()).toEqual(dashboardFiles());
  });

  it('a stale, missing or left-over file is found out', () => {
    const made = new Map([
      ['a', 'new'],
      ['b', 'b'],
    ]);
    const found = new Map([
      ['a', 'old'],
      ['c', 'c'],
    ]);
    expect(differences(made, found)).toEqual(['a', 'b', 'c']);
  });

  it('for import differ by what only an import needs, and have no placeholders', () => {
    const made = dashboardFiles();
    for (const [name, text] of made) {
      if (!name.startsWith('import/')) continue;
      const { __requires: requires, id, ...imported } = JSON.parse(text) as Record<string, unknown>;
      const provisioned = JSON.parse(made.get(name.replace('import/', 'generated/')) ?? '{}') as object;
      expect(imported).toEqual({ ...provisioned, editable: true });
      expect(id).toBeNull();
      expect(requires).toContainEqual(expect.objectContaining({ type: 'datasource', id: 'prometheus' }));
      expect(text).not.toMatch(/\$\{DS_|__inputs/);
    }
  });
});

describe('jsonText', () => {
  it('gives JSON of the same value', () => {
    const value = { a: [1, 2], b: [], c: {}, d: [{ e: null }], f: 'g"h', i: undefined };
    expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
  });

  it('breaks a list of plain values only when it is too long for a line', () => {
    expect(jsonText({ a: ['b', 'c'] })).toBe('{\n  "a": ["b", "c"]\n}\n');
    expect(jsonText(['x'.repeat(60), 'y'.repeat(60)]).split('\n')).toHaveLength(5);
  });
});
