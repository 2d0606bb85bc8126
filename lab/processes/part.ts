import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createInterface } from 'node:readline';

const SETPRIV = '/usr/bin/setpriv';
/** Time a part has to end by itself before it is killed. */
const STOP_GRACE_MS = 8000;

/** How to start a part. */
export interface PartOptions {
  name: string;
  program: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Called for each line of its output; not called after it ended. */
  onLine?: (line: string) => void;
}

/** One process of a lab. It cannot outlive this process, even when this process is killed (Linux with util-linux). */
export class Part {
  readonly name: string;
  /** Resolves with a word on how it ended; never rejects. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  #stopping = false;

  constructor(options: PartOptions) {
    const [file, args] = tiedToParent(options.program, options.args);
    this.name = options.name;
    // A group of its own: Ctrl-C in a terminal reaches the parent alone, which ends the parts in order.
    this.#child = spawn(file, args, {
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(error.message));
      this.#child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => options.onLine?.(line));
    }
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True once {@link stop} was called: its end is then no surprise. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** Asks it to end, and kills it when it does not. May be repeated. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_GRACE_MS);
    await this.ended;
    clearTimeout(timer);
  }
}

/** `setpriv` sets the parent-death signal and then becomes the program: same pid, nothing in between. */
function tiedToParent(program: string, args: readonly string[]): [string, string[]] {
  try {
    accessSync(SETPRIV, constants.X_OK);
    return [SETPRIV, ['--pdeathsig', 'KILL', '--', program, ...args]];
  } catch {
    return [program, [...args]];
  }
}
