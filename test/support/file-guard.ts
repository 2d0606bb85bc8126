import { livingChildren, reapChildren } from './processes.js';
import { childMark, findMarked, type MarkedProcess, RUN_MARK } from './run-mark.js';
import { signalProcess } from './signal-process.js';

/**
 * How long handles and processes may take to go away after the last test of a file, in ms: more than the 2 s that
 * ioredis keeps a timer after a disconnect from a server that is gone.
 */
const SETTLE_MS = 2500;

/** Requests and ticks that come and go by themselves; everything else must go away. */
const PASSING =
  /^(Immediate|TickObject|FSReq|RandomBytesRequest|HashJob|WriteWrap|ShutdownWrap|TCPConnectWrap)/;

interface Left {
  handles: string[];
  processes: MarkedProcess[];
}

/**
 * Watches one test file: what it leaves behind and what it reports too late. Made before the file's own code
 * runs; `finish()` is its last hook.
 */
export class FileGuard {
  readonly #outerMark: string | undefined;
  readonly #mark: string;
  readonly #before = countResources();
  readonly #reports: string[] = [];
  // Taken now: a test may replace the global ones by fake timers.
  readonly #setTimeout = globalThis.setTimeout;
  readonly #now = performance.now.bind(performance);
  readonly #listeners = {
    unhandledRejection: (reason: unknown) => this.#report('unhandled rejection', reason),
    uncaughtException: (error: unknown) => this.#report('uncaught exception', error),
    warning: (warning: Error) => this.#report('process warning', warning),
  };

  /** `runMark` is the mark of the whole run; children of this file carry a mark below it. */
  constructor(runMark: string | undefined) {
    this.#outerMark = runMark;
    this.#mark = childMark(runMark, 'f');
    process.env[RUN_MARK] = this.#mark;
    for (const [event, listener] of Object.entries(this.#listeners)) process.on(event, listener);
  }

  /**
   * Waits up to 2.5 s for what is still going away, then ends leftover processes by their pid.
   *
   * @throws Error that lists everything found, one finding a line.
   */
  async finish(): Promise<void> {
    const deadline = this.#now() + SETTLE_MS;
    let left: Left;
    do {
      // First of all a few turns, so that a late rejection or warning is heard.
      await this.#pause(30);
      left = { handles: this.#leftHandles(), processes: this.#leftProcesses() };
    } while (left.handles.length + left.processes.length > 0 && this.#now() < deadline);
    await this.#end(left.processes);
    const findings = [...this.#reports, ...left.processes.map(describeLeftover), ...left.handles];
    if (findings.length > 0) throw new Error(`this test file left a mess:\n- ${findings.join('\n- ')}`);
  }

  async #end(processes: readonly MarkedProcess[]): Promise<void> {
    for (const { pid } of processes) signalProcess(pid, 'SIGKILL');
    await reapChildren();
    for (const [event, listener] of Object.entries(this.#listeners)) process.off(event, listener);
    if (this.#outerMark === undefined) delete process.env[RUN_MARK];
    else process.env[RUN_MARK] = this.#outerMark;
  }

  #leftProcesses(): MarkedProcess[] {
    const marked = findMarked(this.#mark);
    const known = new Set(marked.map(({ pid }) => pid));
    const others = livingChildren().filter(({ pid }) => !known.has(pid));
    return [...marked, ...others.map(({ pid, command }) => ({ pid, command, mark: this.#mark }))];
  }

  #leftHandles(): string[] {
    return [...countResources()].flatMap(([type, count]) => {
      const more = count - (this.#before.get(type) ?? 0);
      return more > 0 ? [`open handle: ${more} x ${type}${explain(type)}`] : [];
    });
  }

  #report(what: string, reason: unknown): void {
    this.#reports.push(
      `${what}: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`,
    );
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#setTimeout(resolve, ms));
  }
}

/** One leftover process, in words. */
export function describeLeftover({ pid, command }: MarkedProcess): string {
  return `leftover process: pid ${pid}, ${command || '(command unknown)'}`;
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) {
    if (!PASSING.test(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

function explain(type: string): string {
  const meanings: Record<string, string> = {
    Timeout: ' (a timer or interval that keeps the process alive)',
    TCPSocketWrap: ' (a TCP connection)',
    TCPServerWrap: ' (a TCP or HTTP server that listens)',
    PipeWrap: ' (a pipe or a unix socket connection)',
    PipeServerWrap: ' (a server on a unix socket)',
    ProcessWrap: ' (a child process)',
    MessagePort: ' (a worker or message channel)',
  };
  return meanings[type] ?? '';
}
