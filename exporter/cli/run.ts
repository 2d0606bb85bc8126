import type { Clock } from '../../contract/clock.js';
import { RedisLockError } from '../../contract/errors.js';
import { helpText } from '../config/help.js';
import { type ConfigSources, loadConfig, readAction } from '../config/load-config.js';
import { printConfig } from '../config/print-config.js';
import type { Settings } from '../config/settings.js';
import { suggest } from '../config/suggest.js';
import { createLog, type Log } from './log.js';
import { type AskExporter, printTimeline } from './timeline-command.js';

/** A started exporter, as far as the command line knows it. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** What the command line works with; everything outside comes in here. */
export interface CliTools extends ConfigSources {
  readonly version: string;
  readonly clock: Clock;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly start: (settings: Settings, log: Log) => Promise<Stoppable>;
  /** Resolves with the signal's name when the process is asked to end. */
  readonly untilAsked: () => Promise<string>;
  /** Asks a running exporter, for commands that print what it knows. */
  readonly ask: AskExporter;
}

/** The one command beside the exporter itself. */
const TIMELINE = 'timeline';

/** Exit statuses. `config` is the customary one for wrong usage. */
const EXIT = { ok: 0, failed: 1, config: 2 } as const;

/** Does what the command line asks for, and resolves with the exit status when that is done. */
export async function run(tools: CliTools): Promise<number> {
  if (tools.argv[0] === TIMELINE) return await printTimeline(tools.argv.slice(1), tools);
  const meant = commandFault(tools.argv[0]);
  if (meant !== undefined) {
    tools.writeError(meant);
    return EXIT.config;
  }
  const action = readAction(tools.argv);
  if (action === 'help') return say(tools, helpText());
  if (action === 'version') return say(tools, `redis-lock-exporter ${tools.version}\n`);
  const reading = loadConfig(tools);
  if (!reading.ok) return complain(tools, reading.faults);
  switch (action) {
    case 'check':
      return say(tools, 'The configuration has no faults.\n');
    case 'print':
      return say(tools, printConfig(reading.config));
    case 'run':
      return await serve(tools, reading.config.settings);
    default:
      return action satisfies never;
  }
}

/** A plain word in the place of a command that is nearly one. */
function commandFault(word: string | undefined): string | undefined {
  if (word === undefined || !/^[A-Za-z][A-Za-z-]{0,31}$/.test(word)) return undefined;
  const meant = suggest(word, [TIMELINE]);
  if (meant === '') return undefined;
  return `redis-lock-exporter: "${word}" is not a command${meant}; --help shows all\n`;
}

async function serve(tools: CliTools, settings: Settings): Promise<number> {
  const log = createLog(settings.logLevel, tools.writeOut, tools.clock);
  // Before the start: whoever reads that it listens may end it in the same moment.
  const asked = tools.untilAsked();
  try {
    const exporter = await tools.start(settings, log);
    log.info('stopping', { signal: await asked });
    await exporter.stop();
    log.info('stopped');
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof RedisLockError)) throw error;
    tools.writeError(`redis-lock-exporter: ${error.message}\n`);
    return EXIT.failed;
  }
}

function say(tools: CliTools, text: string): number {
  tools.writeOut(text);
  return EXIT.ok;
}

function complain(tools: CliTools, faults: readonly string[]): number {
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
  const lines = faults.map((fault) => `  ${fault}\n`).join('');
  tools.writeError(`redis-lock-exporter: the configuration has ${count}:\n${lines}`);
  return EXIT.config;
}
