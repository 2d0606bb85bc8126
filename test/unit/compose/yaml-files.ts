import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { type ConfigReading, loadConfig } from '../../../exporter/config/load-config.js';
import { scheduleFault } from '../../../exporter/sampler/cron-schedule.js';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Any part of a parsed file. */
export type Part = Record<string, never> & { readonly [key: string]: Part & string };

/** The documents of a YAML file of the package, merge keys applied. @throws Error when it is no YAML */
export function readYaml(path: string): Part[] {
  return parseAllDocuments(readFileSync(ROOT + path, 'utf8'), { merge: true }).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Part;
  });
}

/** What the exporter says to these flags and variables; every named file is there. */
export function readAsExporter(argv: readonly string[], env: Record<string, string> = {}): ConfigReading {
  return loadConfig({ argv, env, readFile: () => 'content', scheduleFault });
}

/** The faults alone. */
export function exporterFaults(argv: readonly string[], env: Record<string, string> = {}): readonly string[] {
  const reading = readAsExporter(argv, env);
  return reading.ok ? [] : reading.faults;
}
