import { parsePromql } from '../../../support/promql.js';
import { unknownNames } from './known-names.js';
import type { Lint, Pack } from './lint.js';

const SECTIONS = ['## Meaning', '## Impact', '## Diagnosis', '## Mitigation'];

/** Every alert has its page with the four sections, no page is left over, and every query on a page is one that works. */
export const runbooks: Lint = {
  name: 'runbooks',
  check: (pack) => {
    const wanted = new Set(pack.alerts.map(({ alert }) => `${alert}.md`));
    return [
      ...[...wanted].filter((page) => !pack.runbooks.has(page)).map((page) => `no page ${page}`),
      ...[...pack.runbooks.keys()].filter((page) => !wanted.has(page)).map((page) => `${page} is left over`),
      ...[...pack.runbooks].flatMap(([page, text]) =>
        pageFaults(text, pack).map((fault) => `${page}: ${fault}`),
      ),
    ];
  },
  broken: (pack) => ({
    ...pack,
    runbooks: new Map([...pack.runbooks].filter(([page]) => page !== 'RedisLockLost.md')),
  }),
};

function pageFaults(text: string, pack: Pack): string[] {
  const headings = text.split('\n').filter((line) => line.startsWith('## '));
  const queries = [...text.matchAll(/```promql\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
  return [
    ...SECTIONS.filter((section) => !headings.includes(section)).map((section) => `no section ${section}`),
    ...(queries.length === 0 ? ['no query'] : []),
    ...queries.flatMap((query) => [...parsePromql(query).errors(), ...unknownNames(query, pack)]),
  ];
}
