import { afterEach, describe, expect, it } from 'vitest';
import { spawnNode } from '../../support/holder-process.js';
import { livingChildren, reapChildren, spawnChild } from '../../support/processes.js';
import { requireBinary } from '../../support/require-binary.js';
import { commandOf, findMarked } from '../../support/run-mark.js';
import { signalProcess } from '../../support/signal-process.js';
import { waitFor } from '../../support/wait-for.js';

const echoChild = new URL('./fixtures/echo-child.mjs', import.meta.url).pathname;
const dyingParent = new URL('./fixtures/dying-parent.mjs', import.meta.url).pathname;
const shell = requireBinary('sh', 'dash');

afterEach(() => reapChildren());

describe('spawnChild', () => {
  it('collects output by lines and reports the exit', async () => {
    const child = await spawnChild(shell, { args: ['-c', 'echo one; echo two >&2; printf three; exit 3'] });
    expect(await child.exited).toEqual({ code: 3, signal: null });
    expect(child.stdout.lines).toEqual(['one', 'three']);
    expect(child.stderr.text()).toBe('two');
    expect([child.running, livingChildren()]).toEqual([false, []]);
  });

  it('rejects a line that never comes, with what came instead', async () => {
    const child = await spawnChild(shell, { args: ['-c', 'echo something else'] });
    await expect(child.stdout.next(/wanted/)).rejects.toThrow(
      /the output ended.*wanted[\s\S]*something else/,
    );
  });

  it('marks the child and its children, and the registry kills them by pid', async () => {
    const child = await spawnChild(shell, { args: ['-c', 'sleep 311 & echo started; wait'] });
    await child.stdout.next(/started/);
    const mark = process.env.RLX_TEST_RUN ?? '';
    const marked = findMarked(mark).map(({ command }) => command);
    expect(marked.some((command) => command.includes('sleep 311'))).toBe(true);
    expect(livingChildren().map(({ pid }) => pid)).toEqual([child.pid]);
    // The shell may be seen between its fork and its exec: then the grandchild still has the shell's command line.
    const grandchild = await waitFor(() => findMarked(mark).find(({ command }) => command === 'sleep 311'), {
      what: 'the grandchild to have become sleep',
    });
    signalProcess(grandchild.pid, 'SIGKILL');
    await child.exited;
  });

  it('stops a paused child, and one that ignores SIGTERM', async () => {
    const paused = await spawnChild(requireBinary('sleep', 'coreutils'), { args: ['312'] });
    await paused.pause();
    expect(await paused.stop()).toEqual({ code: null, signal: 'SIGTERM' });
    const deaf = await spawnChild(shell, {
      args: ['-c', 'trap "" TERM; echo ready; while :; do sleep 0.05; done'],
    });
    await deaf.stdout.next(/ready/);
    expect(await deaf.stop(50)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('ends with its parent, even when that is killed', async () => {
    const parent = await spawnNode(dyingParent);
    const { pid } = await parent.next('child');
    expect(commandOf(Number(pid))).toContain('sleep 304');
    await parent.process.kill('SIGKILL');
    await waitFor(() => commandOf(Number(pid)) === '', { what: 'the orphan to be gone' });
  });

  it('names the package of a missing program', () => {
    expect(() => requireBinary('no-such-server', 'no-such-package')).toThrow(
      'install the Debian package no-such-package',
    );
  });
});

describe('spawnNode', () => {
  it('talks in lines of JSON', async () => {
    const child = await spawnNode(echoChild, { env: { EXTRA: 'yes' } });
    expect(await child.next('ready')).toMatchObject({ pid: child.pid });
    const [first, second] = await Promise.all([
      child.ask({ op: 'add', a: 1, b: 2 }),
      child.ask({ op: 'add', a: 3, b: 4 }),
    ]);
    expect([first.sum, second.sum]).toEqual([3, 7]);
    expect(await child.ask({ op: 'mark' })).toMatchObject({ mark: process.env.RLX_TEST_RUN, extra: 'yes' });
    child.send({ op: 'exit', code: 4 });
    expect(await child.process.exited).toEqual({ code: 4, signal: null });
  });

  it('returns each event once, in order', async () => {
    const child = await spawnNode(echoChild);
    await child.ask({ op: 'tick', times: 3 });
    const counts = [await child.next('tick'), await child.next('tick'), await child.next('tick')];
    expect(counts.map(({ count }) => count)).toEqual([1, 2, 3]);
    await expect(child.next('tick', 20)).rejects.toThrow('20 ms passed while waiting for the event "tick"');
  });

  it('passes failures on, and keeps the child busy or paused', async () => {
    const child = await spawnNode(echoChild);
    expect(await child.ask({ op: 'fail' })).toMatchObject({ ok: false, error: { name: 'TypeError' } });
    expect(await child.ask({ op: 'nothing' })).toMatchObject({
      error: { message: 'no operation "nothing"' },
    });
    const start = performance.now();
    child.send({ op: 'busy', ms: 50 });
    await child.ask({ op: 'add', a: 1, b: 1 });
    expect(performance.now() - start).toBeGreaterThanOrEqual(50);
    await child.process.pause();
    const reply = child.ask({ op: 'add', a: 2, b: 2 });
    await child.process.resume();
    expect((await reply).sum).toBe(4);
    child.process.endInput();
    expect(await child.process.exited).toEqual({ code: 0, signal: null });
  });
});
