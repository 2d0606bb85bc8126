import { describe, expect, it } from 'vitest';
import { spawnChild } from '../../support/processes.js';
import { requireBinary } from '../../support/require-binary.js';
import { processExists, signalProcess } from '../../support/signal-process.js';

describe('signalProcess', () => {
  it.each([undefined, 0, -1, 1, Number.NaN, 1.5])('refuses pid %s, which is not one process', (pid) => {
    expect(() => signalProcess(pid, 'SIGCONT')).toThrow('no process to send SIGCONT to');
  });

  it('ends a process, and a second signal is no error', async () => {
    const child = await spawnChild(requireBinary('sleep', 'coreutils'), { args: ['313'] });
    expect(processExists(child.pid)).toBe(true);
    signalProcess(child.pid, 'SIGKILL');
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(processExists(child.pid)).toBe(false);
    signalProcess(child.pid, 'SIGKILL');
  });
});
