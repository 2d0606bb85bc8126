// `npm start`: sets up what is missing, then hands over to the built demo (lab/demo/start.ts).
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureDependencies, ensurePrograms, ROOT, requireNode } from './setup.mjs';

requireNode();
const args = process.argv.slice(2);
const hasRedis =
  Boolean(process.env.REDIS_URL || process.env.REDIS_LOCK_REDIS_URL) ||
  args.some((arg) => /^--(redis-url|config|help|version|check-config|print-config)(=|$)/.test(arg));
if (!hasRedis) ensurePrograms(['redis-server'], ', or set REDIS_URL to a Redis that runs already');
ensureDependencies();
ensureBuilt();

// With a Redis of one's own: the exporter alone. Without: a private Redis, the exporter and a demo workload.
// Loaded into this process and not started as another, so that a signal reaches it whoever sends it.
const target = join(
  ROOT,
  'dist',
  ...(hasRedis ? ['exporter', 'cli', 'bin.js'] : ['lab', 'demo', 'start.js']),
);
endWithParent();
process.argv = [process.argv[0], target, ...args];
await import(pathToFileURL(target).href);

/** npm may be killed without passing the signal on; then this process ends in order by itself. */
function endWithParent() {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && process.kill(process.pid, 'SIGTERM'), 500).unref();
}
