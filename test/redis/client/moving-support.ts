import { setTimeout as sleep } from 'node:timers/promises';

/** Takes the lock, runs the work, gives the lock back: with the old library, or with the new client. */
export type Worker = (work: () => Promise<void>) => Promise<void>;

/**
 * Lets workers, old and new, pass through one critical section at the same time.
 * @returns how many passed, and the most that were ever in it together
 */
export async function rushThrough(workers: readonly Worker[], passesEach: number) {
  const section = { passes: 0, inside: 0, most: 0 };
  const work = async () => {
    section.inside += 1;
    section.most = Math.max(section.most, section.inside);
    await sleep(1);
    section.inside -= 1;
    section.passes += 1;
  };
  const run = async (worker: Worker) => {
    for (let pass = 0; pass < passesEach; pass += 1) await worker(work);
  };
  await Promise.all(workers.map(run));
  return section;
}
