import { writeListenAddress } from '../../contract/listen-address.js';
import { type Action, readFlags } from './flags.js';
import { type Given, nameValue, type SourceReading } from './given.js';
import { isLocalOnly, isSamePlace } from './listen-address.js';
import type { OptionSpec } from './option.js';
import { OPTIONS, type OptionName } from './options.js';
import type { Origins, Settings } from './settings.js';
import { readSettingsFile } from './settings-file.js';
import { type Environment, readVariables } from './variables.js';

/** What {@link loadConfig} reads from. */
export interface ConfigSources {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Environment;
  /** Gives a file's text, or throws. The only I/O. */
  readonly readFile: (path: string) => string;
  /** What is wrong with a cron expression, or undefined. It belongs to the scheduler, so it is handed in. */
  readonly scheduleFault: (expression: string) => string | undefined;
}

/** Everything in force and where it comes from. */
export interface Config {
  readonly settings: Settings;
  readonly origins: Origins;
}

/** The configuration, or every fault in it: each one line, naming the option, without any secret. */
export type ConfigReading =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly [string, ...string[]] };

/** What the command line asks for; needs no valid configuration, so that `--help` always answers. */
export function readAction(argv: readonly string[]): Action {
  return readFlags(argv).action;
}

/**
 * Reads all settings: a flag wins over the environment, that over the file, that over the default. Checks them
 * one by one and against each other, and that named files can be read. Never throws for bad input.
 */
export function loadConfig(sources: ConfigSources): ConfigReading {
  const flags = readFlags(sources.argv);
  const variables = readVariables(sources.env);
  const file = readFileSource(flags.file ?? variables.file, sources.readFile);
  const faults = [flags, variables, file].flatMap((source) => source.faults);
  const { settings, origins } = readAll([flags, variables, file], faults);
  faults.push(...crossFaults(settings, origins, sources));
  const [first, ...rest] = faults;
  if (first !== undefined) return { ok: false, faults: [first, ...rest] };
  // Without a fault every row was read, so nothing is missing.
  const policies = file.policies ?? new Map();
  return { ok: true, config: { settings: { ...(settings as Settings), policies }, origins } };
}

function readFileSource(path: string | undefined, readFile: ConfigSources['readFile']): SourceReading {
  if (path === undefined) return { given: [], faults: [] };
  try {
    return readSettingsFile(readFile(path), path);
  } catch (error) {
    return { given: [], faults: [`--config: ${path} cannot be read (${codeOf(error)})`] };
  }
}

/** Reads each row from the first source that gives it; rows with a fault stay out. */
function readAll(sources: readonly SourceReading[], faults: string[]) {
  const settings: Partial<Record<OptionName, unknown>> = {};
  const origins: Partial<Record<OptionName, string>> = {};
  for (const [option, spec] of Object.entries(OPTIONS) as [OptionName, OptionSpec][]) {
    const given = sources.flatMap((source) => source.given.find((one) => one.option === option) ?? [])[0];
    const chosen = given ?? { option, texts: spec.default, origin: 'default' };
    origins[option] = chosen.origin;
    const values = readTexts(chosen, spec, faults);
    if (values.length < chosen.texts.length) continue;
    if (spec.count === 'many') settings[option] = values;
    else settings[option] = values[0];
  }
  return { settings: settings as Partial<Settings>, origins: origins as Origins };
}

function readTexts(given: Given, spec: OptionSpec, faults: string[]): unknown[] {
  return given.texts.flatMap((text) => {
    const reading = spec.read(text);
    if (reading.ok) return [reading.value];
    faults.push(`${nameValue(given.origin, text, spec)} ${reading.fault}`);
    return [];
  });
}

/** Faults of settings that are good by themselves. A setting that is missing had a fault already. */
function crossFaults(settings: Partial<Settings>, origins: Origins, sources: ConfigSources): string[] {
  return [
    ...scheduleFaults(settings, origins, sources),
    ...listenFaults(settings, origins),
    ...redisFaults(settings, origins),
    ...fileFaults(settings, origins, sources.readFile),
  ];
}

function scheduleFaults(
  { sampleSchedule }: Partial<Settings>,
  origins: Origins,
  sources: ConfigSources,
): string[] {
  if (sampleSchedule === undefined) return [];
  const fault = sources.scheduleFault(sampleSchedule);
  return fault === undefined
    ? []
    : [`${nameValue(origins.sampleSchedule, sampleSchedule, OPTIONS.sampleSchedule)} ${fault}`];
}

function listenFaults(
  { metricsListen, localListen, tokenFile }: Partial<Settings>,
  origins: Origins,
): string[] {
  if (localListen === undefined) return [];
  const faults: string[] = [];
  if (!isLocalOnly(localListen) && tokenFile === undefined) {
    faults.push(
      `${origins.localListen} ${writeListenAddress(localListen)} can be reached from other machines: ` +
        'give --token-file too, or listen on 127.0.0.1, [::1] or unix:/path',
    );
  }
  if (metricsListen !== undefined && isSamePlace(localListen, metricsListen)) {
    faults.push(`${origins.localListen} and --metrics-listen have the same port ${metricsListen.port}`);
  }
  return faults;
}

function redisFaults(settings: Partial<Settings>, origins: Origins): string[] {
  const { redisUrl, redisCa, redisSentinelPasswordFile, sampleFrom } = settings;
  if (redisUrl === undefined) return [];
  const { address } = redisUrl;
  const isPlain = address.kind === 'unix' || !address.tls;
  const faults: string[] = [];
  if (isPlain && redisCa !== undefined) {
    faults.push(`${origins.redisCa} needs a --redis-url with rediss://, else nothing is encrypted`);
  }
  if (address.kind !== 'sentinel' && redisSentinelPasswordFile !== undefined) {
    faults.push(`${origins.redisSentinelPasswordFile} needs a --redis-url with redis+sentinel://`);
  }
  if (sampleFrom === 'replica' && address.kind !== 'sentinel' && address.kind !== 'cluster') {
    faults.push(
      `${origins.sampleFrom} replica needs a --redis-url with redis+sentinel:// or redis+cluster://; ` +
        'name the replica itself to sample it alone',
    );
  }
  return faults;
}

function fileFaults(
  settings: Partial<Settings>,
  origins: Origins,
  readFile: ConfigSources['readFile'],
): string[] {
  return (['redisPasswordFile', 'redisSentinelPasswordFile', 'redisCa', 'tokenFile'] as const).flatMap(
    (option) => {
      const path = settings[option];
      if (path === undefined) return [];
      try {
        return readFile(path).trim() === ''
          ? [`${nameValue(origins[option], path, OPTIONS[option])} is empty`]
          : [];
      } catch (error) {
        return [`${nameValue(origins[option], path, OPTIONS[option])} cannot be read (${codeOf(error)})`];
      }
    },
  );
}

/** `ENOENT` and the like; an error's message could quote the file. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}
