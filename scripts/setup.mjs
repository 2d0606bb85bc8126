// What a fresh machine needs before anything else can run. Plain JavaScript without dependencies: it runs before
// `npm ci` and before the build.
import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the package. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Written when a build began, relative to ROOT: sources that are newer are not in it. */
export const BUILD_STAMP = join('dist', '.built');

/** Debian's package for each program, and the way to go on without it. */
const PACKAGES = {
  'redis-server': 'redis-server',
  'redis-sentinel': 'redis-sentinel',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  amtool: 'prometheus-alertmanager',
};

/** Ends the process with one clear line. */
export function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a command and shows what it prints. Ends this process when the command fails, or when a signal comes, which is
 * passed on first: nothing goes on behind the back of whoever stopped it.
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    let stoppedBy;
    const passOn = (signal) => {
      stoppedBy = signal;
      child.kill(signal);
    };
    // Before the child is there: a signal in between would end this process and leave the child.
    for (const signal of SIGNALS) process.on(signal, passOn);
    const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', ...options });
    child.once('error', (error) => fail(`${command} cannot be started: ${error.message}`));
    child.once('exit', (code) => {
      for (const signal of SIGNALS) process.off(signal, passOn);
      if (stoppedBy) process.exit(1);
      if (code !== 0) fail(`${command} ${args.join(' ')} failed.`);
      resolve();
    });
  });
}

/** Node 20 or later, or one clear line. */
export function requireNode() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    fail(`Node.js 20 or later is needed; this is ${process.version}.`);
  }
}

/** Runs `npm ci` in a folder of the package when its node_modules is missing or older than its lock file. */
export async function ensureDependencies(folder = '.') {
  const cwd = join(ROOT, folder);
  // npm ci would empty the folder that the link leads to, which belongs to somebody else.
  if (lstatSync(join(cwd, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const installedMs = newestMs(join(cwd, 'node_modules', '.package-lock.json'));
  if (installedMs < newestMs(join(cwd, 'package-lock.json')))
    await run('npm', ['ci', '--include=dev'], { cwd });
}

/** Builds when a source is newer than the last build. */
export async function ensureBuilt() {
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
  const builtMs = newestMs(join(ROOT, BUILD_STAMP));
  if (sources.some((source) => newestMs(join(ROOT, source)) > builtMs)) {
    await run(process.execPath, [join(ROOT, 'scripts', 'build.mjs')]);
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

/** Where Debian looks whether a package may start its service. */
const SERVICE_POLICY = '/usr/sbin/policy-rc.d';

/** A package's own service must not start: it would take Redis's and Prometheus's ports on this machine. */
function aptInstall(packages) {
  const mayDecide = !existsSync(SERVICE_POLICY);
  if (mayDecide) writeFileSync(SERVICE_POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return apt(['update', '-q']) && apt(['install', '-y', '-q', '--no-install-recommends', ...packages]);
  } finally {
    if (mayDecide) rmSync(SERVICE_POLICY, { force: true });
  }
}

function apt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
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
