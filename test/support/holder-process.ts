import { type ChildHandle, spawnChild } from './processes.js';

/** A line of JSON from a child: what happened, and whatever belongs to it. */
export interface ChildEvent {
  event: string;
  [field: string]: unknown;
}

/** How a Node child is started. */
export interface SpawnNodeOptions {
  args?: readonly string[];
  /** Flags of node itself, such as `--expose-gc`. */
  nodeArgs?: readonly string[];
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** How long an event or a reply is waited for, unless a call says otherwise. Default 10000 ms. */
  timeoutMs?: number;
}

/** A Node child that takes commands and tells events, both as lines of JSON. */
export interface NodeChild {
  readonly pid: number;
  readonly process: ChildHandle;
  /** Sends a command line to the child. */
  send(command: object): void;
  /** Sends `{id, …command}` and resolves with the child's `{event: 'reply', id, …}`. */
  ask(command: object, timeoutMs?: number): Promise<ChildEvent>;
  /**
   * The next event of this name that no earlier call has returned, also when it came already.
   *
   * @throws Error with the child's last output, on time-out or when the child ended.
   */
  next(event: string, timeoutMs?: number): Promise<ChildEvent>;
  /** Every event so far, returned or not. */
  events(): ChildEvent[];
}

/**
 * Starts a script as a child of its own, by this very Node. TypeScript children come from `dist/`: build first.
 */
export async function spawnNode(script: string, options: SpawnNodeOptions = {}): Promise<NodeChild> {
  const { args = [], nodeArgs = [], timeoutMs = 10_000, ...rest } = options;
  const child = await spawnChild(process.execPath, { ...rest, args: [...nodeArgs, script, ...args] });
  return new LineChild(child, timeoutMs);
}

class LineChild implements NodeChild {
  /** Indexes of the output lines that a caller has got. */
  readonly #returned = new Set<number>();
  #lastId = 0;

  constructor(
    readonly process: ChildHandle,
    readonly timeoutMs: number,
  ) {}

  get pid(): number {
    return this.process.pid;
  }

  send(command: object): void {
    this.process.write(`${JSON.stringify(command)}\n`);
  }

  ask(command: object, timeoutMs?: number): Promise<ChildEvent> {
    this.#lastId += 1;
    const id = this.#lastId;
    const reply = this.#take(
      (event) => event.event === 'reply' && event.id === id,
      `the reply to ${id}`,
      timeoutMs,
    );
    this.send({ id, ...command });
    return reply;
  }

  next(event: string, timeoutMs?: number): Promise<ChildEvent> {
    return this.#take((candidate) => candidate.event === event, `the event "${event}"`, timeoutMs);
  }

  events(): ChildEvent[] {
    return this.process.stdout.lines.flatMap((line) => parseEvent(line) ?? []);
  }

  async #take(
    wanted: (event: ChildEvent) => boolean,
    what: string,
    timeoutMs = this.timeoutMs,
  ): Promise<ChildEvent> {
    const { stdout, stderr } = this.process;
    let taken: ChildEvent | undefined;
    const look = (line: string, index: number) => {
      const event = this.#returned.has(index) ? undefined : parseEvent(line);
      if (event === undefined || !wanted(event)) return false;
      this.#returned.add(index);
      taken = event;
      return true;
    };
    try {
      await stdout.next(look, { what, timeoutMs });
    } catch (error) {
      throw new Error(`${String(error)}\nerror output:\n${stderr.lines.slice(-10).join('\n')}`, {
        cause: error,
      });
    }
    return taken ?? { event: '' };
  }
}

function parseEvent(line: string): ChildEvent | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(value: unknown): value is ChildEvent {
  return typeof value === 'object' && value !== null && typeof (value as ChildEvent).event === 'string';
}
