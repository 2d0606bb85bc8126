import { youngEngine } from './engine.js';
import { makeYoungRoom } from './young-generation.js';

/**
 * The program as a process, with this process's arguments, environment, files, output and signals.
 *
 * @returns the exit status, when all is done
 */
export async function runProgram(): Promise<number> {
  makeYoungRoom(youngEngine());
  // Loaded only now: what loading leaves behind would make the room grow.
  const { runLoaded } = await import('./loaded-program.js');
  return runLoaded();
}
