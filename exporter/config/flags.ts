import { type Given, quote, type SourceReading } from './given.js';
import type { OptionSpec } from './option.js';
import { ACTIONS, OPTIONS, type OptionName } from './options.js';
import { suggest } from './suggest.js';

/** What the command line asks for. The first that is given wins, in this order. */
export type Action = 'help' | 'version' | 'check' | 'print' | 'run';

/** The command line, taken apart. */
export interface FlagsReading extends SourceReading {
  readonly action: Action;
  /** Value of `--config`. */
  readonly file: string | undefined;
}

interface Occurrence {
  readonly flag: string;
  readonly value: string | undefined;
}

const SHORT_HELP = '-h';

/**
 * Takes the command line apart. `--flag=value` and `--flag value` are the same; a switch may stand alone. Of a
 * flag that takes one value and is given twice the last counts, so that a wrapper's flags can be overruled. All
 * faults are found, not only the first. A value is not repeated in a fault here: it may be a secret in the wrong
 * place.
 */
export function readFlags(argv: readonly string[]): FlagsReading {
  const { occurrences, faults } = takeApart(argv);
  const given: Given[] = [];
  for (const [option, spec] of Object.entries(OPTIONS) as [OptionName, OptionSpec][]) {
    const own = occurrences.filter(({ flag }) => flag === spec.flag);
    if (own.length === 0 || spec.flag === null) continue;
    const texts = own.map(({ value }) => value ?? (spec.form === 'switch' ? 'true' : undefined));
    const found = texts.filter((text) => text !== undefined);
    if (found.length < texts.length) faults.push(`${spec.flag} needs a value: ${spec.range}`);
    else given.push({ option, texts: spec.count === 'many' ? found : found.slice(-1), origin: spec.flag });
  }
  const asked = new Map(occurrences.map(({ flag, value }) => [flag, value]));
  faults.push(...actionFaults(occurrences));
  return { given, faults, action: actionOf(asked), file: asked.get(ACTIONS.config.flag) };
}

function actionOf(asked: ReadonlyMap<string, unknown>): Action {
  if (asked.has(ACTIONS.help.flag)) return 'help';
  if (asked.has(ACTIONS.version.flag)) return 'version';
  if (asked.has(ACTIONS.checkConfig.flag)) return 'check';
  return asked.has(ACTIONS.printConfig.flag) ? 'print' : 'run';
}

function actionFaults(occurrences: readonly Occurrence[]): string[] {
  return Object.values(ACTIONS).flatMap(({ flag, value }) => {
    const own = occurrences.filter((occurrence) => occurrence.flag === flag);
    if (value === null) return own.some((one) => one.value !== undefined) ? [`${flag} takes no value`] : [];
    return own.some((one) => !one.value) ? [`${flag} needs a value: ${value}`] : [];
  });
}

/**
 * Divides the arguments into known flags with their values, and faults for the rest. Not `parseArgs`: that takes
 * the flag in `--store --redis-url x` for a value, and does not say which words after it belong to nothing.
 */
function takeApart(argv: readonly string[]): { occurrences: Occurrence[]; faults: string[] } {
  const known = valueFlags();
  const occurrences: Occurrence[] = [];
  const faults: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const { flag, inline } = splitFlag(argv[at] ?? '');
    const next = argv[at + 1];
    const takes = flag === undefined ? undefined : known.get(flag);
    const loose = inline === undefined && next !== undefined && !next.startsWith('--') ? next : undefined;
    if (flag === undefined) faults.push(strayArgument(argv[at] ?? '', at));
    else if (takes === undefined) faults.push(unknownFlag(flag, [...known.keys()]));
    else occurrences.push({ flag, value: inline ?? (takes(loose) ? loose : undefined) });
    // What follows an unknown flag is most likely its value, and was said with it.
    if (flag !== undefined && loose !== undefined && (takes ?? (() => true))(loose)) at += 1;
  }
  return { occurrences, faults };
}

function splitFlag(arg: string): { flag: string | undefined; inline: string | undefined } {
  if (arg === SHORT_HELP) return { flag: ACTIONS.help.flag, inline: undefined };
  if (!arg.startsWith('-') || arg === '--') return { flag: undefined, inline: undefined };
  const at = arg.indexOf('=');
  return at < 0 ? { flag: arg, inline: undefined } : { flag: arg.slice(0, at), inline: arg.slice(at + 1) };
}

/** Known flags, each with whether it takes a certain next argument for its value. */
function valueFlags(): Map<string, (next: string | undefined) => boolean> {
  const flags = new Map<string, (next: string | undefined) => boolean>();
  for (const { flag, form } of Object.values(OPTIONS)) {
    if (flag !== null)
      flags.set(flag, form === 'switch' ? (next) => next === 'true' || next === 'false' : () => true);
  }
  for (const { flag, value } of Object.values(ACTIONS)) flags.set(flag, () => value !== null);
  return flags;
}

function unknownFlag(flag: string, known: readonly string[]): string {
  const shown = /^--?[A-Za-z0-9-]{1,64}$/.test(flag) ? flag : 'an argument that begins with "-"';
  return `${shown} is not an option${suggest(flag, known)}; --help shows all`;
}

/** A plain word is quoted, and the name of a settings file; anything else may be a secret in the wrong place. */
function strayArgument(text: string, index: number): string {
  if (/^[\w./-]{1,80}\.ya?ml$/.test(text)) {
    return `${quote(text)} belongs to no flag; a settings file is named with ${ACTIONS.config.flag}`;
  }
  const name = /^[A-Za-z][A-Za-z-]{0,31}$/.test(text) ? quote(text) : `argument ${index + 1}`;
  return `${name} belongs to no flag; every setting has one, --help shows all`;
}
