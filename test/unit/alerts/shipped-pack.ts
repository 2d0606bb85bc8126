import { knownFamilies } from './known-families.js';
import type { Pack } from './lints/lint.js';
import { listAlertsFolder, readAlertsFile, shippedAlerts, shippedRecordings } from './shipped.js';

/** What is shipped, as the lints judge it. */
export function shippedPack(): Pack {
  return {
    alerts: shippedAlerts(),
    recordings: shippedRecordings(),
    families: knownFamilies(),
    runbooks: read('runbooks'),
    tests: read('tests'),
  };
}

function read(folder: string): ReadonlyMap<string, string> {
  return new Map(listAlertsFolder(folder).map((name) => [name, readAlertsFile(`${folder}/${name}`)]));
}
