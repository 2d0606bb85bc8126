import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../../exporter/metrics/catalogue.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const families = new Map(CATALOGUE.map((family) => [family.name, family]));

/** Each family that a page names, with the labels that it is named with. A name with an ellipsis is none. */
function familiesOn(text: string): { name: string; labels: string[] }[] {
  return [...text.matchAll(/\bredis_lock_([a-z_]*[a-z])(?![a-z_])(?:\{([^}]*)\})?/g)].map(
    ([, rest = '', selector = '']) => ({
      name: `redis_lock_${rest}`,
      labels: [...selector.matchAll(/([a-z_]+)(?==)/g)].map(([label]) => label),
    }),
  );
}

function faultOf({ name, labels }: { name: string; labels: string[] }): string | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  if (family === undefined) return `${name} is no family`;
  const wrong = labels.filter((label) => label !== 'le' && !family.labels.includes(label));
  return wrong.length === 0 ? undefined : `${name} has no label ${wrong.join(', ')}`;
}

describe('metrics that our pages name', () => {
  it.each(pages)('%s names no family and no label that is not in the catalogue', (page) => {
    const named = familiesOn(readFileSync(join(ROOT, page), 'utf8'));
    expect(named.flatMap((one) => faultOf(one) ?? [])).toEqual([]);
  });

  it('are told apart from what is none', () => {
    const text =
      '`redis_lock_up{reason="ok"}` `redis_lock_upp` `redis_lock_keys{key="a"}` redis_lock_exporter_events_…';
    expect(familiesOn(text).flatMap((one) => faultOf(one) ?? [])).toEqual([
      'redis_lock_upp is no family',
      'redis_lock_keys has no label key',
    ]);
  });
});
