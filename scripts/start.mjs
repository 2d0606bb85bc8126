// `npm start`: sets up what is missing, then hands over to the built demo (lab/demo/start.ts).
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt, ensureDependencies, ensurePrograms, ROOT, requireNode } from './setup.mjs';

requireNode();
const args = process.argv.slice(2);
const ALONE = /^--(redis-url|config|help|version|check-config|print-config)(=|$)/;
const ownRedis = ['REDIS_URL', 'REDIS_LOCK_REDIS_URL', 'REDIS_LOCK_CONFIG'].some((name) => process.env[name]);
const hasRedis = ownRedis || args.some((arg) => ALONE.test(arg));
if (!hasRedis) ensurePrograms(['redis-server'], ', or set REDIS_URL to a Redis that runs already');
await ensureDependencies();
await ensureBuilt();

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

/**
 * npm may be killed without passing the signal on; then this process ends in order by itself. Where npm did pass it
 * on and ended, nothing is sent: a second signal would cut the grace short.
 */
function endWithParent() {
  const parent = process.ppid;
  let ending = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => (ending = true));
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    if (!ending) process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}
