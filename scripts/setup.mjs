// What a fresh machine needs before anything else can run. Plain JavaScript without dependencies: it runs before
// `npm ci` and before the build.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Debian's package for each program, and the way to go on without it. */
const PACKAGES = {
  'redis-server': 'redis-server',
  'redis-sentinel': 'redis-sentinel',
  prometheus: 'prometheus',
  promtool: 'prometheus',
};

/** Ends the process with one clear line. */
export function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

/** Runs a command and shows what it prints; ends the process when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
  if (result.status !== 0) fail(`${command} ${args.join(' ')} failed.`);
}

/** Node 20 or later, or one clear line. */
export function requireNode() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    fail(`Node.js 20 or later is needed; this is ${process.version}.`);
  }
}

/** Runs `npm ci` in a folder of the package when its node_modules is missing or older than its lock file. */
export function ensureDependencies(folder = '.') {
  const cwd = join(ROOT, folder);
  const installedMs = newestMs(join(cwd, 'node_modules', '.package-lock.json'));
  if (installedMs < newestMs(join(cwd, 'package-lock.json'))) run('npm', ['ci', '--include=dev'], { cwd });
}

/** Builds when a source is newer than the last build. */
export function ensureBuilt() {
  const stamp = join(ROOT, 'dist', '.built');
  const sources = [
    'client',
    'contract',
    'exporter',
    'lab',
    'lua',
    'dashboards',
    'alerts',
    'docs/generator',
    'scripts',
  ];
  sources.push('tsconfig.json', 'tsconfig.build.json', 'package.json');
  const builtMs = newestMs(stamp);
  if (sources.some((source) => newestMs(join(ROOT, source)) > builtMs)) {
    run(process.execPath, [join(ROOT, 'scripts', 'build.mjs')]);
    writeFileSync(stamp, '');
  }
}

/** The programs of `names` that are not on PATH. */
export function missingPrograms(names) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.filter((name) => !folders.some((folder) => isExecutable(join(folder, name))));
}

/** Installs Debian's packages for missing programs where that is possible; else one clear line says what to do. */
export function ensurePrograms(names, alternative = '') {
  const missing = missingPrograms(names);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((name) => PACKAGES[name]))];
  const hint = `Install ${packages.join(', ')} (apt-get install ${packages.join(' ')})${alternative}.`;
  if (process.getuid?.() !== 0 || missingPrograms(['apt-get']).length > 0)
    fail(`Missing: ${missing.join(', ')}. ${hint}`);
  console.log(`Installing ${packages.join(', ')} …`);
  if (!aptInstall(packages) || missingPrograms(names).length > 0)
    fail(`Could not install ${packages.join(', ')}. ${hint}`);
}

/** A package's own service must not start: it would take Redis's and Prometheus's ports on this machine. */
function aptInstall(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const quiet = { env, stdio: ['ignore', 'ignore', 'inherit'] };
  return ['update', 'install'].every((verb) => {
    const args =
      verb === 'update' ? ['update', '-q'] : ['install', '-y', '-q', '--no-install-recommends', ...packages];
    return spawnSync('apt-get', args, quiet).status === 0;
  });
}

function newestMs(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
