import type { Clock } from '../contract/clock.js';

/** What the room for young objects needs of the engine. */
export interface YoungEngine {
  /** Bytes that young objects have room in: two spaces of the same size. */
  roomBytes(): number;
  /** Sets a flag of V8. */
  setFlag(flag: string): void;
}

/** Two spaces of 2 MB; V8 begins with 1 and goes on to 16. */
const ROOM_BYTES = 4_000_000;
/** From 1 MB to 2 in one step. */
const GROWTH = 2;
const OBJECTS_PER_STEP = 10_000;
const MAX_STEPS = 100;
const LOOK_EVERY_MS = 2000;

/**
 * Gives young objects room of two times 2 MB, as `--max-semi-space-size=2` does, which V8 heeds on the command line only: makes
 * the room grow once, by objects that survive, and forbids that it grows again. Two times 16 MB, where loading the program
 * would bring it, cost 30 MB more, two times 4 MB some 5 MB; two times 2 MB cost ingest 3 % of its rate, two times 1 MB
 * 40 %. To be called before the program is loaded.
 * Takes some milliseconds; where V8 does otherwise it gives up, and nothing is lost.
 */
export function makeYoungRoom(engine: YoungEngine): void {
  engine.setFlag(growth(GROWTH));
  const survivors: object[][] = [];
  for (let step = 0; step < MAX_STEPS && engine.roomBytes() < ROOM_BYTES; step += 1) {
    survivors.push(Array.from({ length: OBJECTS_PER_STEP }, (_, at) => ({ at })));
  }
  engine.setFlag(growth(1));
}

/** Lets the room grow again where V8 has made it smaller, as it does with an idle process. Lasts as long as the process. */
export function watchYoungRoom(clock: Clock, engine: YoungEngine): void {
  let mayGrow = false;
  const look = () => {
    const isSmall = engine.roomBytes() < ROOM_BYTES;
    if (isSmall !== mayGrow) engine.setFlag(growth(isSmall ? GROWTH : 1));
    mayGrow = isSmall;
    clock.setTimer(look, LOOK_EVERY_MS);
  };
  look();
}

function growth(factor: number): string {
  return `--semi-space-growth-factor=${factor}`;
}
