import type { OptionSpec } from './option.js';
import { ACTIONS, OPTIONS } from './options.js';

const WIDTH = 100;
const INDENT = ' '.repeat(6);

/** The text of `--help`: every option with value, default, variable and meaning, from the option table. */
export function helpText(): string {
  const intro = [
    'Usage: redis-lock-exporter [options]',
    '       redis-lock-exporter timeline <key or lock id> [--exporter ADDRESS] [--token-file FILE]',
    '',
    'The second asks a running exporter what it remembers of one lock, and prints it; timeline --help says more.',
    'Shows what happens to Redis locks as Prometheus metrics: from events of lock clients, and by sampling Redis.',
    'A flag wins over its variable, that over the YAML file (keys are the flags without dashes), that over the default.',
    'Of a flag given twice the last counts.',
    '',
  ];
  const settings = Object.values(OPTIONS).map((spec: OptionSpec) => helpOf(spec));
  const actions = Object.values(ACTIONS).map(({ flag, value, env, description }) =>
    [`  ${flag}${value === null ? '' : ` ${value}`}`, ...wrap(`${description}${variables(env)}`)].join('\n'),
  );
  return `${[...intro, ...settings, ...actions].join('\n')}\n`;
}

function helpOf(spec: OptionSpec): string {
  const head =
    spec.flag === null ? `  (variable only) ${spec.env.join(', ')}` : `  ${spec.flag}${formOf(spec)}`;
  const fallback = spec.default.length === 0 ? '' : ` Default: ${spec.default.join(', ')}.`;
  const repeat = spec.count === 'many' ? ' May be repeated.' : '';
  const env = spec.flag === null ? '' : variables(spec.env);
  return [head, ...wrap(`${spec.description}${repeat} Value: ${spec.range}.${fallback}${env}`)].join('\n');
}

function formOf({ form }: OptionSpec): string {
  return form === 'switch' ? '[=true|false]' : ` ${form.toUpperCase()}`;
}

function variables(env: readonly string[]): string {
  return env.length === 0 ? '' : ` Variable: ${env.join(', ')}.`;
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = INDENT;
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > WIDTH && line !== INDENT) {
      lines.push(line);
      line = INDENT;
    }
    line += line === INDENT ? word : ` ${word}`;
  }
  return [...lines, line];
}
