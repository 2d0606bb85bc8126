import { readdirSync, readFileSync } from 'node:fs';

/**
 * Name of the environment variable that every process started by a test inherits. Its value is a path of marks,
 * `run.file`, and a nested run appends to its parent's, so that a run finds its leftovers at any depth.
 */
export const RUN_MARK = 'RLX_TEST_RUN';

/** A living process found by its mark. */
export interface MarkedProcess {
  pid: number;
  mark: string;
  /** Command line, arguments joined by blanks; empty when the process went away meanwhile. */
  command: string;
}

/** A mark below `parent` that nobody else has. */
export function childMark(parent: string | undefined, name: string): string {
  const own = `${name}${process.pid}-${process.hrtime.bigint().toString(36)}`;
  return parent ? `${parent}.${own}` : own;
}

/**
 * Living processes whose *initial* environment carries the mark or a mark below it, whoever started them. This
 * process is left out. Linux only; elsewhere the list is empty. Zombies have no environment and do not count.
 */
export function findMarked(mark: string): MarkedProcess[] {
  return listPids().flatMap((pid) => {
    const found = markOf(pid);
    const ours = found === mark || found?.startsWith(`${mark}.`);
    return ours && found !== undefined ? [{ pid, mark: found, command: commandOf(pid) }] : [];
  });
}

function listPids(): number[] {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.map(Number).filter((pid) => pid !== process.pid);
  } catch {
    return [];
  }
}

function markOf(pid: number): string | undefined {
  const entry = readProc(pid, 'environ').find((line) => line.startsWith(`${RUN_MARK}=`));
  return entry?.slice(RUN_MARK.length + 1);
}

/** The command line of a process, or '' when it is gone. */
export function commandOf(pid: number): string {
  return readProc(pid, 'cmdline').join(' ').trim();
}

function readProc(pid: number, file: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
