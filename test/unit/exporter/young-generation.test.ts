import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeYoungRoom, watchYoungRoom } from '../../../exporter/young-generation.js';
import { FakeClock } from '../../support/clocks.js';

const FORBID = '--semi-space-growth-factor=1';
const ALLOW = '--semi-space-growth-factor=2';

it('growing is allowed only until there is room enough, and never for ever', () => {
  const flags: string[] = [];
  let looks = 0;
  const setFlag = (flag: string) => flags.push(flag);
  const roomBytes = () => {
    looks += 1;
    return looks < 3 ? 2e6 : 4.2e6;
  };
  makeYoungRoom({ setFlag, roomBytes });
  expect([looks, flags]).toEqual([3, [ALLOW, FORBID]]);
  makeYoungRoom({ setFlag, roomBytes: () => 2e6 });
  expect(flags).toEqual([ALLOW, FORBID, ALLOW, FORBID]);
});

it('room that was made smaller may grow again, and no further', async () => {
  const clock = new FakeClock();
  const flags: string[] = [];
  let room = 4.2e6;
  watchYoungRoom(clock, { roomBytes: () => room, setFlag: (flag) => flags.push(flag) });
  await clock.advance(10_000);
  expect(flags).toEqual([]);
  room = 2.1e6;
  await clock.advance(10_000);
  expect(flags).toEqual([ALLOW]);
  room = 4.2e6;
  await clock.advance(10_000);
  expect(flags).toEqual([ALLOW, FORBID]);
});

/** Objects that survive, as a program makes them while it is loaded; then the size of the room. */
const LOAD = `
  const kept = [];
  for (let round = 0; round < 100; round += 1) {
    kept.push(Array.from({ length: 20000 }, (_, at) => ({ at, inner: {} })));
    if (kept.length > 10) kept.shift();
  }
  process.stdout.write(String(youngEngine().roomBytes()));
`;

function roomAfterLoad(before: string): number {
  const folder = fileURLToPath(new URL('../../../', import.meta.url));
  const hooks = `import { register } from 'node:module'; register('./scripts/typescript-hooks.mjs', 'file://${folder}');`;
  const imports = `const { youngEngine } = await import('file://${folder}exporter/engine.ts');
    const { makeYoungRoom } = await import('file://${folder}exporter/young-generation.ts');`;
  const script = `${hooks}${imports}${before}${LOAD}`;
  const args = ['--input-type=module', '-e', script];
  return Number(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }));
}

it('this Node heeds it: load makes the room grow eight times as large without it, and not with it', () => {
  expect(roomAfterLoad('')).toBeGreaterThan(30e6);
  expect(roomAfterLoad('makeYoungRoom(youngEngine());')).toBeLessThan(5e6);
});
