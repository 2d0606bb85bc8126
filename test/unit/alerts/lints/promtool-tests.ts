import { parse } from 'yaml';
import type { Lint, Pack } from './lint.js';

interface TestFile {
  tests: { alert_rule_test?: { alertname?: string }[]; promql_expr_test?: { expr?: string }[] }[];
}

/** promtool passes a test that asks nothing, or asks about an alert that does not exist. */
export const promtoolTests: Lint = {
  name: 'promtool-tests',
  check: (pack) => [
    ...[...pack.tests].flatMap(([file, text]) => faults(text, pack).map((fault) => `${file}: ${fault}`)),
    ...pack.alerts
      .filter(({ alert }) => ![...pack.tests.keys()].some((file) => file.startsWith(alert)))
      .map(({ alert }) => `${alert} has no test`),
  ],
  broken: (pack) => ({
    ...pack,
    tests: new Map([
      ['RedisLockLost.yml', 'tests: [{alert_rule_test: []}, {alert_rule_test: [{alertname: Lost}]}]'],
    ]),
  }),
};

function faults(text: string, { alerts }: Pack): string[] {
  const known = new Set(alerts.map(({ alert }) => alert));
  const { tests } = parse(text) as TestFile;
  return tests.flatMap(({ alert_rule_test = [], promql_expr_test = [] }) => {
    const named = [
      ...alert_rule_test.map(({ alertname = '' }) => alertname),
      ...promql_expr_test.flatMap(({ expr = '' }) => /alertname="(\w+)"/.exec(expr)?.[1] ?? []),
    ];
    return [
      ...(alert_rule_test.length + promql_expr_test.length === 0 ? ['a test that asks nothing'] : []),
      ...named.filter((name) => !known.has(name)).map((name) => `no alert ${name}`),
    ];
  });
}
