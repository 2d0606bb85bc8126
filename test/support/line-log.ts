import type { Readable } from 'node:stream';

/** How long and for what {@link LineLog.next} waits. */
export interface LineWait {
  /** Gives up after this many real milliseconds. Default 10000. */
  timeoutMs?: number;
  /** What is awaited, for the error. Default: the pattern. */
  what?: string;
}

interface Waiter {
  look(): boolean;
  fail(why: string): void;
}

/** The lines a stream has given so far, and a way to wait for one. Keeps all lines; meant for tests. */
export class LineLog {
  /** Every complete line so far, oldest first, without line ends. */
  readonly lines: string[] = [];
  readonly #waiters = new Set<Waiter>();
  #rest = '';
  #ended = false;

  constructor(stream: Readable | null) {
    if (stream === null) {
      this.#end();
      return;
    }
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => this.#take(text));
    stream.once('close', () => this.#end());
    stream.on('error', () => this.#end());
  }

  /** All lines as one text. */
  text(): string {
    return this.lines.join('\n');
  }

  /**
   * The first line from index `from` on that matches, also when it came already.
   *
   * @throws Error on time-out, or when the stream ended; its message carries the last lines.
   */
  next(
    pattern: RegExp | ((line: string, index: number) => boolean),
    wait: LineWait = {},
    from = 0,
  ): Promise<string> {
    const matches = typeof pattern === 'function' ? pattern : (line: string) => pattern.test(line);
    const { timeoutMs = 10_000, what = `a line like ${String(pattern)}` } = wait;
    return new Promise((resolve, reject) => {
      let index = from;
      const done = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        look: () => {
          for (; index < this.lines.length; index += 1) {
            const line = this.lines[index] ?? '';
            if (!matches(line, index)) continue;
            done();
            resolve(line);
            return true;
          }
          return false;
        },
        fail: (why) => {
          done();
          reject(
            new Error(`${why} while waiting for ${what}; last lines:\n${this.lines.slice(-10).join('\n')}`),
          );
        },
      };
      const timer = setTimeout(() => waiter.fail(`${timeoutMs} ms passed`), timeoutMs);
      this.#waiters.add(waiter);
      if (!waiter.look() && this.#ended) waiter.fail('the output ended');
    });
  }

  #take(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    this.lines.push(...parts.map((line) => line.replace(/\r$/, '')));
    for (const waiter of [...this.#waiters]) waiter.look();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#rest !== '') this.#take('\n');
    for (const waiter of [...this.#waiters]) waiter.fail('the output ended');
  }
}
