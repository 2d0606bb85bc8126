import { createHttpEmitter } from '../../../../client/emitter/http-emitter.js';
import { hold, pending, TestSource } from './test-events.js';

/**
 * A program that emits, keeps a lock, and then has nothing left to do. It closes nothing. Arguments: the
 * exporter's URL, the number of events, the limit of the last flush in ms. Tells its last counts and its memory as a line of JSON.
 */
const [, , url = '', count = '1', exitFlush = '500'] = process.argv;
const events = Number(count);
const source = new TestSource();
// Far beyond what the test waits: neither the time limit nor a heartbeat may be what ends the process.
const limits = { requestTimeoutMs: 600_000, exitFlushMs: Number(exitFlush) };
const emitter = createHttpEmitter({ app: 'child', url, ...limits, onWarning: () => {} });
const channel = emitter.open(source);

process.on('exit', () => {
  const { rss } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ ...channel.stats(), rss })}\n`);
});

async function run(): Promise<void> {
  source.held = [hold(1)];
  channel.holdsChanged();
  for (let number = 1; number <= events; number += 1) {
    channel.emit(pending(number, number === events));
    if (number % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

void run();
