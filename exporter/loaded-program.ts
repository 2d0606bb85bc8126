import { systemClock } from '../contract/clock.js';
import { askExporter } from './cli/ask-exporter.js';
import { run } from './cli/run.js';
import { readVersion } from './cli/version.js';
import { heapEngine, youngEngine } from './engine.js';
import { watchHeapGrowth } from './heap-growth.js';
import { startExporter } from './main.js';
import { readRegularFile } from './read-regular-file.js';
import { scheduleFault } from './sampler/cron-schedule.js';
import { watchYoungRoom } from './young-generation.js';

/** A terminal and npm both pass Ctrl-C on, so that one press arrives twice. */
const SAME_PRESS_MS = 500;

/**
 * The program as a process: the command line on the exporter, with this process's arguments, environment, files,
 * output and signals. A second signal ends the process at once, for whoever does not want to wait for the grace.
 *
 * @returns the exit status, when all is done
 */
export function runLoaded(): Promise<number> {
  const clock = systemClock();
  const version = readVersion(import.meta.url);
  // A reader that goes away must not end the exporter.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  return run({
    argv: process.argv.slice(2),
    env: process.env,
    readFile: readRegularFile,
    scheduleFault,
    version,
    clock,
    writeOut: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
    start: (settings, log) => {
      watchHeapGrowth(clock, heapEngine(clock));
      watchYoungRoom(clock, youngEngine());
      return startExporter(settings, { clock, random: Math.random, log, version, readFile: readRegularFile });
    },
    ask: askExporter,
    untilAsked: () => untilSignal(() => clock.monoMs()),
  });
}

function untilSignal(nowMs: () => number): Promise<string> {
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const onSignal = (signal: string) => {
      if (askedMs !== undefined && nowMs() - askedMs > SAME_PRESS_MS) process.exit(1);
      askedMs ??= nowMs();
      resolve(signal);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  });
}
