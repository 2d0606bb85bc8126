import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { LineLog } from './line-log.js';
import { findBinary } from './require-binary.js';
import { waitFor } from './wait-for.js';

/** How a process ended: exactly one of the two is set. */
export interface ExitInfo {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** What a test may set for a child. The run's mark is inherited through the environment. */
export interface SpawnChildOptions {
  args?: readonly string[];
  /** Added to this process's environment; undefined removes a variable. */
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
}

/** How long output may still come after an exit, in ms. */
const INHERITED_PIPE_MS = 500;

const children = new Set<ChildHandle>();

/** A child process of a test, known to the registry until it has exited. */
export class ChildHandle {
  readonly pid: number;
  /** The command line, for messages. */
  readonly command: string;
  /** Resolves once the process has exited and its output was read; never rejects. */
  readonly exited: Promise<ExitInfo>;
  readonly stdout: LineLog;
  readonly stderr: LineLog;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, pid: number, command: string) {
    this.#child = child;
    this.pid = pid;
    this.command = command;
    this.stdout = new LineLog(child.stdout);
    this.stderr = new LineLog(child.stderr);
    child.stdin?.on('error', () => {});
    children.add(this);
    this.exited = new Promise((resolve) => {
      child.once('exit', () => {
        children.delete(this);
        const timer = setTimeout(() => this.#dropOutput(), INHERITED_PIPE_MS);
        child.once('close', (code, signal) => {
          clearTimeout(timer);
          resolve({ code, signal });
        });
      });
    });
  }

  /** A grandchild may hold the pipes open for ever; the exit of the child must not wait for it. */
  #dropOutput(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** False from the moment the exit was seen. */
  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Writes to the child's standard input. A child that is gone already is no error. */
  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Ends the child's standard input. */
  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Sends a signal; resolves when the process has exited. For signals that end it. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<ExitInfo> {
    if (this.running) this.#child.kill(signal);
    return this.exited;
  }

  /** SIGSTOP. Resolves when the kernel reports the process as stopped. */
  async pause(): Promise<void> {
    this.#child.kill('SIGSTOP');
    await this.#untilStopped(true);
  }

  /** SIGCONT. Resolves when the process is no longer stopped. */
  async resume(): Promise<void> {
    this.#child.kill('SIGCONT');
    await this.#untilStopped(false);
  }

  /** Asks the process to end (SIGTERM, also when paused), and kills it after `graceMs`. May be repeated. */
  async stop(graceMs = 2000): Promise<ExitInfo> {
    if (!this.running) return this.exited;
    this.#child.kill('SIGTERM');
    this.#child.kill('SIGCONT');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), graceMs);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }

  async #untilStopped(wanted: boolean): Promise<void> {
    if (process.platform !== 'linux') return;
    const what = `process ${this.pid} to be ${wanted ? 'stopped' : 'running'}`;
    await waitFor(() => !this.running || isStopped(this.pid) === wanted, { what, everyMs: 1 });
  }
}

function isStopped(pid: number): boolean {
  try {
    return /^State:\s+[Tt]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/**
 * Starts a program as a child that ends with this process, even when this process is killed (on Linux with
 * util-linux), and puts it into the registry. `program` is a full path, see `requireBinary`.
 *
 * @throws Error when the program can't be started.
 */
export function spawnChild(program: string, options: SpawnChildOptions = {}): Promise<ChildHandle> {
  const args = [...(options.args ?? [])];
  const [file, argv] = tiedToParent(program, args);
  const settings: SpawnOptions = { env: { ...process.env, ...options.env }, stdio: 'pipe' };
  if (options.cwd !== undefined) settings.cwd = options.cwd;
  const child = spawn(file, argv, settings);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.on('error', () => {});
      const { pid } = child;
      if (pid === undefined) reject(new Error(`${program} has no pid`));
      else resolve(new ChildHandle(child, pid, [program, ...args].join(' ')));
    });
  });
}

/** `setpriv` sets the parent-death signal and then becomes the program: same pid, nothing in between. */
function tiedToParent(program: string, args: string[]): [string, string[]] {
  const setpriv = process.platform === 'linux' ? findBinary('setpriv') : undefined;
  return setpriv === undefined ? [program, args] : [setpriv, ['--pdeathsig', 'KILL', '--', program, ...args]];
}

/** The registered children that have not exited yet. */
export function livingChildren(): ChildHandle[] {
  return [...children];
}

/** Kills every registered child by its pid and waits until all have exited. */
export async function reapChildren(): Promise<void> {
  await Promise.all(livingChildren().map((child) => child.kill('SIGKILL')));
}
