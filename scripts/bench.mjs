// `npm run bench -- client`: sets up what is missing, builds, and runs the benches of test/bench/ on real servers.
// One JSON line for each result; exit code 1 when a bar is missed, 2 when a bench could not run.
import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureDependencies, ensurePrograms, ROOT, requireNode } from './setup.mjs';

requireNode();
ensurePrograms(['redis-server']);
await ensureDependencies();
await ensureDependencies(join('test', 'peers'));
await ensureBuilt();

register('./typescript-hooks.mjs', import.meta.url);
const { main } = await import(pathToFileURL(join(ROOT, 'test', 'bench', 'main.ts')).href);
process.exitCode = await main(process.argv.slice(2));
