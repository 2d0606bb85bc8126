#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { systemClock } from '../../contract/clock.js';
import { startExporter } from '../main.js';
import { scheduleFault } from '../sampler/cron-schedule.js';
import { run } from './run.js';
import { readVersion } from './version.js';

const readFile = (path: string) => readFileSync(path, 'utf8');
const clock = systemClock();
const version = readVersion(import.meta.url);
// A reader that goes away must not end the exporter.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

/** A terminal and npm both pass Ctrl-C on, so that one press arrives twice. */
const SAME_PRESS_MS = 500;

/** A second signal ends the process at once, for whoever does not want to wait for the grace. */
function untilAsked(): Promise<string> {
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const onSignal = (signal: string) => {
      if (askedMs !== undefined && clock.monoMs() - askedMs > SAME_PRESS_MS) process.exit(1);
      askedMs ??= clock.monoMs();
      resolve(signal);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  });
}

process.exitCode = await run({
  argv: process.argv.slice(2),
  env: process.env,
  readFile,
  scheduleFault,
  version,
  clock,
  writeOut: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  start: (settings, log) => startExporter(settings, { clock, random: Math.random, log, version, readFile }),
  untilAsked,
});
