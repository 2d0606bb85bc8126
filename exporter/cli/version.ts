import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Looked for in this many folders above: the source has it one up, the build two. */
const LEVELS = ['../', '../../'];

/** The package's version. @param base URL of the program's first file, in `exporter/` */
export function readVersion(base: string): string {
  for (const level of LEVELS) {
    const version = versionIn(fileURLToPath(new URL(`${level}package.json`, base)));
    if (version !== undefined) return version;
  }
  return 'unknown';
}

function versionIn(path: string): string | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(path, 'utf8'));
    return name === 'redis-lock-exporter' && typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
