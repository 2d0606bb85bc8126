/**
 * Sends a signal to one process. A process that is gone already is no error.
 *
 * To the system, pid 0 means this process's whole group and -1 every process there is, so a pid that was not found
 * must never become a number: with one, a test run ends itself and whoever started it.
 *
 * @throws Error when `pid` is not the pid of one process.
 */
export function signalProcess(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || !Number.isInteger(pid) || pid <= 1)
    throw new Error(`no process to send ${signal} to: pid ${pid}`);
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Whether a process with this pid exists, zombies included. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ESRCH';
}
