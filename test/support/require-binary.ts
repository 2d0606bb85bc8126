import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The full path of a program on PATH.
 *
 * @throws Error of one line that names the Debian package to install. Nothing is ever installed from here.
 */
export function requireBinary(program: string, debianPackage: string): string {
  const found = findBinary(program);
  if (found === undefined) {
    throw new Error(
      `"${program}" is not on PATH: install the Debian package ${debianPackage} to run these tests`,
    );
  }
  return found;
}

/** The full path of a program on PATH, or undefined. */
export function findBinary(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
