import { TIMELINE_USAGE } from '../../exporter/cli/timeline-command.js';
import type { OptionSpec } from '../../exporter/config/option.js';
import { ACTIONS, OPTIONS } from '../../exporter/config/options.js';
import { POLICIES_KEY, POLICY_FIELDS } from '../../exporter/config/resource-policy.js';
import { code, page, table } from './markdown.js';

const POLICY_ROWS = Object.entries(POLICY_FIELDS);
const COUNTS = { one: 'one', optional: 'none or one', many: 'any number' } as const;

/** `docs/reference/options.md`: the option table. */
export function optionsPage(): string {
  return page(
    'Options of the exporter',
    `A flag wins over the environment, that over the YAML file (${code('--config')}), that over the default. Repeated values: the flag again and again, a comma-divided variable, a list in the file.`,
    table(
      ['flag', 'variable', 'YAML key', 'values', 'range', 'default', 'what it does'],
      Object.values(OPTIONS).map(row),
    ),
    '## Policy of resources',
    `Only in the file, under the key ${code(POLICIES_KEY)}: a map from a resource to these fields. It becomes labels of ${code('redis_lock_resource_info')}, which the alert rules join, so that no rule has to be changed for one lock.`,
    table(['field', 'range', 'default', 'what it does'], POLICY_ROWS.map(policyRow)),
    '## Actions',
    table(['flag', 'variable', 'what it does'], Object.values(ACTIONS).map(actionRow)),
    '## Commands',
    'Without one, the exporter runs. One asks a running exporter; it reads no settings of its own:',
    `\`\`\`text\n${TIMELINE_USAGE}\`\`\``,
  );
}

function row(spec: OptionSpec): string[] {
  return [
    spec.flag === null ? '–' : code(spec.flag),
    spec.env.map(code).join(', '),
    spec.yaml === null ? '–' : code(spec.yaml),
    COUNTS[spec.count],
    spec.range,
    spec.default.length === 0 ? '–' : spec.default.map(code).join(', '),
    spec.description,
  ];
}

function policyRow([name, field]: (typeof POLICY_ROWS)[number]): string[] {
  return [code(name), field.range, code(field.default), field.description];
}

function actionRow(action: (typeof ACTIONS)[keyof typeof ACTIONS]): string[] {
  return [
    code(action.value === null ? action.flag : `${action.flag} ${action.value}`),
    action.env.map(code).join(', '),
    action.description,
  ];
}
