import { expect, it } from 'vitest';
import { BodyBuffers } from '../../../../exporter/http/body-buffers.js';
import { FakeClock } from '../../../support/clocks.js';

const KB = 1024;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Takes buffers of these sizes at once, and tells which were given so far. */
function takeAll(buffers: BodyBuffers, sizes: readonly number[]) {
  const given: { size: number; buffer: Buffer }[] = [];
  for (const size of sizes) buffers.take(size).then((buffer) => given.push({ size, buffer }));
  return given;
}

it('a buffer that was given back serves the next body that fits', async () => {
  const buffers = new BodyBuffers(new FakeClock());
  const first = await buffers.take(200 * KB);
  buffers.giveBack(first);
  expect(await buffers.take(100 * KB)).toBe(first);
  expect(await buffers.take(100 * KB)).not.toBe(first);
});

it('two bodies at a time never share a buffer', async () => {
  const buffers = new BodyBuffers(new FakeClock());
  const taken = await Promise.all([0, 1, 64 * KB, 65 * KB, 500 * KB].map((size) => buffers.take(size)));
  expect(new Set(taken.map(({ buffer }) => buffer)).size).toBe(5);
  expect(taken.map(({ length }) => length / KB)).toEqual([64, 64, 64, 128, 512]);
});

it('a burst of large bodies waits for room, first come first served, and none for ever', async () => {
  const buffers = new BodyBuffers(new FakeClock(), 1024 * KB);
  const sizes = [512, 512, 1024, 200, 200].map((size) => size * KB);
  const given = takeAll(buffers, sizes);
  const order: number[] = [];
  let most = 0;
  while (order.length < sizes.length) {
    await turn();
    most = Math.max(most, buffers.usedBytes);
    const one = given.shift();
    expect(one, 'a body that waits for ever').toBeDefined();
    if (!one) return;
    order.push(one.size / KB);
    buffers.giveBack(one.buffer);
  }
  expect(order).toEqual([512, 512, 1024, 200, 200]);
  expect(most).toBe(1024 * KB);
  expect(buffers.usedBytes).toBe(0);
});

it('room that one was let into is not given to another before it goes on', async () => {
  const buffers = new BodyBuffers(new FakeClock(), 1024 * KB);
  const first = await buffers.take(1024 * KB);
  const given = takeAll(buffers, [1024 * KB]);
  buffers.giveBack(first);
  const later = takeAll(buffers, [512 * KB]);
  await turn();
  expect([given.length, later.length]).toEqual([1, 0]);
  expect(buffers.usedBytes).toBe(1024 * KB);
});

it('a small body waits for no large one', async () => {
  const buffers = new BodyBuffers(new FakeClock(), 1024 * KB);
  const given = takeAll(buffers, [1024 * KB, 1024 * KB, KB]);
  await turn();
  expect(given.map(({ size }) => size / KB)).toEqual([1024, 1]);
});

it('senders that stopped in the middle keep others waiting for a second, not for as long as they may take', async () => {
  const clock = new FakeClock();
  const buffers = new BodyBuffers(clock, 1024 * KB);
  const stopped = [await buffers.take(512 * KB), await buffers.take(512 * KB)];
  const given = takeAll(
    buffers,
    [512, 512, 512].map((size) => size * KB),
  );
  await clock.advance(999);
  expect(given).toHaveLength(0);
  await clock.advance(1);
  expect(given, 'as many as there is room for').toHaveLength(2);
  for (const buffer of stopped) buffers.giveBack(buffer);
  await turn();
  expect(given, 'what is not counted makes no room').toHaveLength(2);
  for (const { buffer } of given) buffers.giveBack(buffer);
  await turn();
  expect(given).toHaveLength(3);
  for (const { buffer } of given.slice(2)) buffers.giveBack(buffer);
  expect(buffers.usedBytes).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

it('a body larger than all the room is let in when it is alone', async () => {
  const buffers = new BodyBuffers(new FakeClock(), 256 * KB);
  const given = takeAll(buffers, [512 * KB, 128 * KB]);
  await turn();
  expect(given.map(({ size }) => size / KB)).toEqual([512]);
  for (const { buffer } of given) buffers.giveBack(buffer);
  await turn();
  expect(given.map(({ size }) => size / KB)).toEqual([512, 128]);
});

it('keeps a quarter of its room for the next ones', async () => {
  const buffers = new BodyBuffers(new FakeClock(), 1024 * KB);
  const burst = Array.from({ length: 10 }, () => buffers.takeNow(128 * KB));
  for (const buffer of burst) buffers.giveBack(buffer);
  const again = Array.from({ length: 10 }, () => buffers.takeNow(128 * KB));
  expect(again.filter((buffer) => burst.includes(buffer))).toHaveLength(2);
});
