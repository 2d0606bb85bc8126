import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** How {@link waitFor} waits. */
export interface WaitOptions {
  /** What is awaited, in words that complete "waited for …". */
  what: string;
  /** Gives up after this many real milliseconds. Default 5000. */
  timeoutMs?: number;
  /** Pause between two looks, in real milliseconds. Default 10. */
  everyMs?: number;
}

/**
 * Looks again and again until `probe` gives a truthy value, and returns that value. For state that nobody
 * announces; where there is an event, wait for the event. The probe is always called at least once; one that
 * never answers does not outlive the time-out.
 *
 * @throws Error that names what was awaited, how long, and the last value or the last error of the probe.
 */
export async function waitFor<T>(probe: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<T>> {
  const { what, timeoutMs = 5000, everyMs = 10 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const look = await attempt(probe, Math.max(1, deadline - performance.now()));
    if ('value' in look && look.value) return look.value;
    if (performance.now() >= deadline) throw notSeen(what, timeoutMs, look);
    await sleep(everyMs);
  }
}

type Look<T> = { value: T } | { error: unknown };

async function attempt<T>(probe: () => T | Promise<T>, timeoutMs: number): Promise<Look<T>> {
  try {
    return { value: await within(Promise.resolve(probe()), timeoutMs, 'the probe to answer') };
  } catch (error) {
    return { error };
  }
}

function notSeen<T>(what: string, timeoutMs: number, look: Look<T>): Error {
  const head = `waited ${timeoutMs} ms for ${what}, in vain`;
  if ('value' in look) return new Error(`${head}; last value: ${inspect(look.value, { depth: 4 })}`);
  return new Error(`${head}; the probe failed last with: ${String(look.error)}`, { cause: look.error });
}

/**
 * The result of `promise`, or an error that names what did not come within `timeoutMs` real milliseconds. The
 * promise itself goes on; a later rejection of it is not reported as unhandled.
 */
export async function within<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${timeoutMs} ms for ${what}, in vain`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
