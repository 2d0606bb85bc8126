import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { apiSurfaces } from './api-surface.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const ENTRIES = ['client', 'contract'];

/**
 * Whoever changes what the package exports sees it here, and decides whether users must change something. A wanted
 * change is taken over with `npx vitest run test/unit/client/public-api.test.ts -u`.
 */
describe('the public API', () => {
  it('of each entry is what docs/reference shows', { timeout: 180_000 }, async () => {
    const paths = ENTRIES.map((entry) => join(ROOT, entry, 'index.ts'));
    const surfaces = apiSurfaces(paths, join(ROOT, 'tsconfig.json'));
    for (const [at, surface] of surfaces.entries()) {
      await expect(surface).toMatchFileSnapshot(join(ROOT, 'docs', 'reference', `api-${ENTRIES[at]}.txt`));
    }
  });
});
