// `npm start`: sets up what is missing, then hands over to the built demo (lab/demo/start.ts).
import { spawn } from 'node:child_process';
import { join } from 'node:path';
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
const target = hasRedis ? ['exporter', 'cli', 'bin.js'] : ['lab', 'demo', 'start.js'];
const child = spawn(process.execPath, [join(ROOT, 'dist', ...target), ...args], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) =>
  process.exit(code ?? (signal === 'SIGINT' || signal === 'SIGTERM' ? 0 : 1)),
);
