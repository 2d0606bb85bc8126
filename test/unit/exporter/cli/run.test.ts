import { describe, expect, it } from 'vitest';
import { RedisLockError } from '../../../../contract/errors.js';
import { createLog } from '../../../../exporter/cli/log.js';
import { type CliTools, run } from '../../../../exporter/cli/run.js';
import { FakeClock } from '../../../support/clocks.js';

async function runWith(argv: string[], tools: Partial<CliTools> = {}) {
  let out = '';
  let error = '';
  let started = 0;
  let stopped = 0;
  const status = await run({
    argv,
    env: {},
    readFile: () => '',
    scheduleFault: () => undefined,
    version: '9.9.9',
    clock: new FakeClock(),
    writeOut: (text) => {
      out += text;
    },
    writeError: (text) => {
      error += text;
    },
    start: async () => {
      started += 1;
      return {
        stop: async () => {
          stopped += 1;
        },
      };
    },
    untilAsked: async () => 'SIGTERM',
    ask: async () => ({ status: 200, text: '{}' }),
    ...tools,
  });
  return { status, out, error, started, stopped };
}

describe('the command line', () => {
  it('--help and --version answer with status 0, also beside faults', async () => {
    expect(await runWith(['--help', '--nonsense'])).toMatchObject({ status: 0, error: '', started: 0 });
    expect(await runWith(['--version'])).toMatchObject({ status: 0, out: 'redis-lock-exporter 9.9.9\n' });
  });

  it('--help names the command beside the exporter', async () => {
    expect((await runWith(['--help'])).out).toContain('redis-lock-exporter timeline <key or lock id>');
  });

  it.each(['timelin', 'timelines', 'Timeline'])('%s is told the command that was meant', async (word) => {
    expect(await runWith([word, 'lock:stock:1'])).toMatchObject({
      status: 2,
      started: 0,
      error: `redis-lock-exporter: "${word}" is not a command (did you mean timeline?); --help shows all\n`,
    });
  });

  it('--check-config says it is good, and starts nothing', async () => {
    const { status, out, started } = await runWith(['--check-config']);
    expect([status, out, started]).toEqual([0, 'The configuration has no faults.\n', 0]);
  });

  it.each([[['--check-config']], [['--print-config']], [[]]])(
    '%j with faults: status 2, one line each',
    async (argv) => {
      const { status, error, started } = await runWith([...argv, '--store', 'a b', '--sample-duty', '5']);
      expect([status, started]).toEqual([2, 0]);
      expect(error.split('\n')).toEqual([
        'redis-lock-exporter: the configuration has 2 faults:',
        '  --store "a b" must be 1 to 64 of A-Z a-z 0-9 _ . -',
        '  --sample-duty "5" must be a percentage, such as 1% or 0.5%',
        '',
      ]);
    },
  );

  it('without an action it serves until it is asked to end', async () => {
    const { status, out, started, stopped } = await runWith([]);
    expect([status, started, stopped]).toEqual([0, 1, 1]);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { level: 'info', msg: 'stopping', signal: 'SIGTERM' },
      { level: 'info', msg: 'stopped' },
    ]);
  });

  it('a port in use is one clear line and status 1', async () => {
    const start = () => Promise.reject(new RedisLockError('listen_failed', 'Cannot listen on 127.0.0.1:1'));
    const { status, error } = await runWith([], { start });
    expect(status).toBe(1);
    expect(error).toMatch(/^redis-lock-exporter: Cannot listen on 127\.0\.0\.1:1\. .*\n$/);
  });
});

it('a log line is one JSON object; lower levels are left out; line breaks cannot forge a line', () => {
  const lines: string[] = [];
  const log = createLog('warn', (line) => lines.push(line), new FakeClock(0));
  log.info('no');
  log.warn('yes', { reason: 'a\n{"level":"error"}', count: 3, none: undefined });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.match(/\n/g)).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    level: 'warn',
    msg: 'yes',
    reason: 'a\n{"level":"error"}',
    count: 3,
  });
});
