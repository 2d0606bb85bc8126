import { describe, expect, it } from 'vitest';
import { knownFamilies } from './known-families.js';
import { LINTS } from './lints/all.js';
import type { Pack } from './lints/lint.js';
import { listAlertsFolder, readAlertsFile, shippedAlerts, shippedRecordings } from './shipped.js';

const read = (folder: string) =>
  new Map(listAlertsFolder(folder).map((name) => [name, readAlertsFile(`${folder}/${name}`)]));

/** What is shipped. */
function shippedPack(): Pack {
  return {
    alerts: shippedAlerts(),
    recordings: shippedRecordings(),
    families: knownFamilies(),
    runbooks: read('runbooks'),
    tests: read('tests'),
  };
}

describe.each(LINTS.map((lint) => [lint.name, lint] as const))('lint %s', (_, lint) => {
  it('finds nothing in the shipped rules', () => {
    expect(lint.check(shippedPack())).toEqual([]);
  });

  it('finds the fault of its broken example', () => {
    expect(lint.check(lint.broken(shippedPack()))).not.toEqual([]);
  });
});
