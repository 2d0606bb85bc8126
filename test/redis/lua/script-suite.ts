import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindScripts, type Connection, makeLock, type Store, serverUs, storedFence } from './lock-store.js';

const HOUR_MS = 3_600_000;
const FAR_AHEAD_US = 10_000_000;

/** What the four lock scripts answer, and leave behind, on any kind of Redis. */
export function describeScripts(kind: string, start: () => Promise<Store>, bind = bindScripts): void {
  let store: Store;
  let redis: Connection;
  let run: ReturnType<typeof bindScripts>;

  beforeAll(async () => {
    store = await start();
    redis = store.connection;
    run = bind(redis);
  });
  afterAll(() => store?.stop());

  const life = (key: string | Buffer) => redis.pttl(key);
  const expectLife = async (key: string | Buffer, fullMs: number) => {
    const left = await life(key);
    expect(left).toBeLessThanOrEqual(fullMs);
    expect(left).toBeGreaterThan(fullMs - 20_000);
  };

  describe(`acquire (${kind})`, () => {
    it('grants a free lock with a fence from the server’s clock', async () => {
      const lock = makeLock();
      const before = await serverUs(redis, lock.key);
      const reply = await run.acquire(lock.mine);
      expect(reply).toEqual({ word: 'granted', serverUs: expect.any(Number), fence: expect.any(Number) });
      if (reply.word !== 'granted') throw new Error(reply.word);
      expect(reply.serverUs).toBeGreaterThanOrEqual(before);
      expect(reply.serverUs).toBeLessThanOrEqual(await serverUs(redis, lock.key));
      expect(reply.fence).toBe(reply.serverUs);
      expect(await redis.get(lock.key)).toBe(lock.mine.token);
      expect(await redis.get(lock.fenceKey)).toBe(storedFence(reply.serverUs, reply.serverUs));
      await expectLife(lock.key, 30_000);
      await expectLife(lock.fenceKey, HOUR_MS);
    });

    it('grants without a fence when none is asked for, and leaves no fence key', async () => {
      const lock = makeLock();
      const plain = { ...lock.mine, fenceKey: null, fenceTtlMs: 0 };
      expect(await run.acquire(plain)).toMatchObject({ word: 'granted', fence: null });
      expect(await redis.exists(lock.fenceKey)).toBe(0);
      await expectLife(lock.key, 30_000);
    });

    it('leaves another’s lock untouched and says how long it lives', async () => {
      const lock = makeLock();
      await run.acquire(lock.theirs);
      const fence = await redis.get(lock.fenceKey);
      const reply = await run.acquire({ ...lock.mine, leaseMs: 80_000 });
      expect(reply).toMatchObject({ word: 'held', leftMs: expect.any(Number) });
      expect(await redis.get(lock.key)).toBe(lock.theirs.token);
      expect(await redis.get(lock.fenceKey)).toBe(fence);
      await expectLife(lock.key, 30_000);
    });

    it('says when the lock held by another has no expiry', async () => {
      const lock = makeLock();
      await redis.set(lock.key, 'other');
      expect(await run.acquire(lock.mine)).toMatchObject({ word: 'held', leftMs: null });
      expect(await life(lock.key)).toBe(-1);
    });

    it('recognises its own token when the command is resent: same fence, lease not extended', async () => {
      const lock = makeLock();
      const granted = await run.acquire(lock.mine);
      if (granted.word !== 'granted') throw new Error(granted.word);
      await redis.pexpire(lock.key, 5000);
      const again = await run.acquire(lock.mine);
      expect(again).toMatchObject({ word: 'own', fence: granted.fence, grantUs: granted.serverUs });
      if (again.word !== 'own') throw new Error(again.word);
      expect(again.leftMs).toBeLessThanOrEqual(5000);
      expect(await life(lock.key)).toBeLessThanOrEqual(5000);
      expect(await redis.get(lock.fenceKey)).toBe(storedFence(granted.serverUs, granted.serverUs));
    });

    it('recognises its own token without a fence, with a lost one, and without an expiry', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      await redis.del(lock.fenceKey);
      await redis.persist(lock.key);
      const nothing = { word: 'own', fence: null, grantUs: null, leftMs: null };
      expect(await run.acquire(lock.mine)).toMatchObject(nothing);
      expect(await run.acquire({ ...lock.mine, fenceKey: null })).toMatchObject(nothing);
      await redis.hset(lock.fenceKey, 'f', 'v');
      expect(await run.acquire(lock.mine)).toMatchObject(nothing);
      expect(await redis.type(lock.fenceKey)).toBe('hash');
    });

    it('refuses a key of another type and changes nothing', async () => {
      const lock = makeLock();
      await redis.hset(lock.key, 'f', 'v');
      expect(await run.acquire(lock.mine)).toEqual({ word: 'wrong_type', of: 'lock' });
      expect(await redis.hgetall(lock.key)).toEqual({ f: 'v' });
      expect(await redis.exists(lock.fenceKey)).toBe(0);
    });

    it('refuses a fence key of another type and grants nothing', async () => {
      const lock = makeLock();
      await redis.rpush(lock.fenceKey, 'x');
      expect(await run.acquire(lock.mine)).toEqual({ word: 'wrong_type', of: 'fence' });
      expect(await redis.exists(lock.key)).toBe(0);
      expect(await redis.type(lock.fenceKey)).toBe('list');
    });

    it.each([
      0,
      -5,
      1.5,
      Number.NaN,
      86_400_001,
      Number.MAX_SAFE_INTEGER,
      2 ** 53,
      1e21,
      '',
      '9223372036854775807',
      '0x10',
      '1e3',
      ' 5',
      '05',
    ])('refuses a lease of %j before any write', async (leaseMs) => {
      const lock = makeLock();
      const args = { ...lock.mine, leaseMs: leaseMs as number };
      await expect(run.acquire(args)).rejects.toMatchObject({ id: 'invalid_option' });
      expect(await redis.exists(lock.key)).toBe(0);
      expect(await redis.exists(lock.fenceKey)).toBe(0);
    });

    it('refuses an empty token and a fence life out of range', async () => {
      const lock = makeLock();
      await expect(run.acquire({ ...lock.mine, token: '' })).rejects.toThrow(/token/);
      await expect(run.acquire({ ...lock.mine, fenceTtlMs: 0 })).rejects.toThrow(/fenceTtlMs/);
      await expect(run.acquire({ ...lock.mine, fenceTtlMs: 31_622_400_001 })).rejects.toThrow(/fenceTtlMs/);
      expect(await redis.exists(lock.key)).toBe(0);
    });

    it('takes the shortest and the longest lease', async () => {
      const lock = makeLock();
      expect(await run.acquire({ ...lock.mine, leaseMs: 86_400_000 })).toMatchObject({ word: 'granted' });
      await expectLife(lock.key, 86_400_000);
      expect(await run.acquire({ ...makeLock().mine, leaseMs: 1 })).toMatchObject({ word: 'granted' });
    });
  });

  describe(`fences (${kind})`, () => {
    const grant = async (lock: ReturnType<typeof makeLock>) => {
      const reply = await run.acquire(lock.mine);
      if (reply.word !== 'granted' || reply.fence === null) throw new Error(reply.word);
      await run.release(lock.mine);
      return { fence: reply.fence, serverUs: reply.serverUs };
    };

    it('rise strictly over 1,000 grants, also when the fence key is lost on the way', async () => {
      const lock = makeLock();
      let last = 0;
      for (let count = 0; count < 1000; count += 1) {
        if (count % 100 === 50) await redis.del(lock.fenceKey);
        const { fence } = await grant(lock);
        expect(fence).toBeGreaterThan(last);
        last = fence;
      }
    });

    it('rise by one from a stored fence ahead of the clock, which then outlives the difference', async () => {
      const lock = makeLock();
      const ahead = (await serverUs(redis, lock.key)) + FAR_AHEAD_US * 1000;
      await redis.set(lock.fenceKey, storedFence(ahead, 1));
      const first = await grant(lock);
      expect(first.fence).toBe(ahead + 1);
      expect(first.serverUs).toBeLessThan(ahead);
      const fullMs = HOUR_MS + Math.ceil((first.fence - first.serverUs) / 1000);
      await expectLife(lock.fenceKey, fullMs);
      expect(await life(lock.fenceKey)).toBeGreaterThan(HOUR_MS);
      expect((await grant(lock)).fence).toBe(ahead + 2);
    });

    it('can reach 2^53-1 and never pass it', async () => {
      const lock = makeLock();
      await redis.set(lock.fenceKey, storedFence(Number.MAX_SAFE_INTEGER - 1, 1));
      expect((await grant(lock)).fence).toBe(Number.MAX_SAFE_INTEGER);
      const next = await grant(lock);
      expect(next.fence).toBe(next.serverUs);
    });

    it.each([
      '',
      'x',
      '5',
      '5 6',
      `${'9'.repeat(16)} ${'0'.repeat(16)}`,
      `${'0'.repeat(16)} ${'0'.repeat(16)}`,
      `${'0'.repeat(15)}1 ${'9'.repeat(16)}`,
      `${'1'.repeat(15)} ${'1'.repeat(17)}`,
    ])('a corrupted fence (%j) counts as absent: the clock carries the next', async (value) => {
      const lock = makeLock();
      await grant(lock);
      const { fence } = await grant(lock);
      await redis.set(lock.fenceKey, value);
      expect(await run.check(lock.mine)).toMatchObject({ word: 'expired', latestFence: null });
      expect((await grant(lock)).fence).toBeGreaterThan(fence);
    });
  });

  describe(`renew (${kind})`, () => {
    it('sets the remaining life of the own lock, also a shorter one', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      expect(await run.renew({ ...lock.mine, leaseMs: 70_000 })).toEqual({
        word: 'renewed',
        serverUs: expect.any(Number),
      });
      await expectLife(lock.key, 70_000);
      await run.renew({ ...lock.mine, leaseMs: 5000 });
      expect(await life(lock.key)).toBeLessThanOrEqual(5000);
      await expectLife(lock.fenceKey, HOUR_MS);
    });

    it('gives an expiry to an own lock that lost it', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      await redis.persist(lock.key);
      expect(await run.renew(lock.mine)).toMatchObject({ word: 'renewed' });
      await expectLife(lock.key, 30_000);
    });

    it.each([0, -5, 1.5, 86_400_001, 1e21, '', '05'])(
      'refuses %j and leaves key and expiry alone',
      async (leaseMs) => {
        const lock = makeLock();
        await run.acquire(lock.mine);
        await expect(run.renew({ ...lock.mine, leaseMs: leaseMs as number })).rejects.toMatchObject({
          id: 'invalid_option',
        });
        expect(await redis.get(lock.key)).toBe(lock.mine.token);
        await expectLife(lock.key, 30_000);
      },
    );

    it('never re-creates a lock that expired', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      await redis.del(lock.key);
      expect(await run.renew(lock.mine)).toMatchObject({ word: 'expired' });
      expect(await redis.exists(lock.key)).toBe(0);
    });
  });

  describe(`release (${kind})`, () => {
    it('frees the own lock and keeps the fence', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      expect(await run.release(lock.mine)).toEqual({ word: 'released', serverUs: expect.any(Number) });
      expect(await redis.exists(lock.key)).toBe(0);
      await expectLife(lock.fenceKey, HOUR_MS);
    });

    it('sent again, and again at once, leaves the next holder’s lock alone', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      await redis.del(lock.key);
      await run.acquire(lock.theirs);
      const again = await Promise.all([
        run.release(lock.mine),
        run.release(lock.mine),
        run.release(lock.mine),
      ]);
      expect(again.map(({ word }) => word)).toEqual(['stolen', 'stolen', 'stolen']);
      expect(await redis.get(lock.key)).toBe(lock.theirs.token);
      await expectLife(lock.key, 30_000);
    });

    it('sent again to a free lock says that it is gone', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      await run.release(lock.mine);
      expect(await run.release(lock.mine)).toMatchObject({ word: 'expired' });
    });
  });

  describe(`check (${kind})`, () => {
    it('says how long the own lock lives', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      const reply = await run.check(lock.mine);
      expect(reply).toMatchObject({ word: 'held', serverUs: expect.any(Number), leftMs: expect.any(Number) });
      await redis.persist(lock.key);
      expect(await run.check(lock.mine)).toMatchObject({ word: 'held', leftMs: null });
    });
  });

  describe.each(['renew', 'release', 'check'] as const)(`%s of a lock not owned (${kind})`, (name) => {
    it('tells by the fence that nobody was granted meanwhile', async () => {
      const lock = makeLock();
      const granted = await run.acquire(lock.mine);
      if (granted.word !== 'granted') throw new Error(granted.word);
      await redis.del(lock.key);
      const reply = await run[name](lock.mine);
      expect(reply).toMatchObject({
        word: 'expired',
        latestFence: granted.fence,
        latestGrantUs: granted.serverUs,
      });
    });

    it('tells the next holder’s fence and grant, while held and after', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      await redis.del(lock.key);
      const next = await run.acquire(lock.theirs);
      if (next.word !== 'granted') throw new Error(next.word);
      const latest = { latestFence: next.fence, latestGrantUs: next.serverUs };
      expect(await run[name](lock.mine)).toMatchObject({ word: 'stolen', ...latest });
      expect(await redis.get(lock.key)).toBe(lock.theirs.token);
      await run.release(lock.theirs);
      const after = await run[name](lock.mine);
      expect(after).toMatchObject({ word: 'expired', ...latest });
      expect(after.word === 'expired' && after.serverUs >= next.serverUs).toBe(true);
    });

    it('tells nothing of grants without a fence key, or with a lost or spoilt one', async () => {
      const lock = makeLock();
      const nothing = { word: 'stolen', latestFence: null, latestGrantUs: null };
      await redis.set(lock.key, 'other');
      expect(await run[name](lock.mine)).toMatchObject(nothing);
      expect(await run[name]({ ...lock.mine, fenceKey: null })).toMatchObject(nothing);
      await redis.hset(lock.fenceKey, 'f', 'v');
      expect(await run[name](lock.mine)).toMatchObject(nothing);
    });

    it('replaced by a hash says wrong_type and changes nothing', async () => {
      const lock = makeLock();
      await run.acquire(lock.mine);
      await redis.del(lock.key);
      await redis.hset(lock.key, 'f', 'v');
      expect(await run[name](lock.mine)).toEqual({ word: 'wrong_type', of: 'lock' });
      expect(await redis.hgetall(lock.key)).toEqual({ f: 'v' });
    });

    it('refuses an empty token, which would own a foreign lock with an empty value', async () => {
      const lock = makeLock();
      await redis.set(lock.key, '');
      await expect(run[name]({ ...lock.mine, token: '' })).rejects.toMatchObject({ id: 'invalid_option' });
      expect(await redis.exists(lock.key)).toBe(1);
    });
  });

  describe(`names (${kind})`, () => {
    const odd = [
      'a',
      '{t}:a',
      'a{}b',
      'a{}b}',
      '{}{x}',
      '{',
      '}{',
      '}',
      'a{b}{c}',
      '{{a}}',
      'ключ',
      'lock:\n 1',
    ];
    const binary = [
      Buffer.from([0xff, 0x00, 0x7b, 0xfe]),
      Buffer.from([0x7d, 0xc3, 0x28]),
      Buffer.from([0x7b, 0x7d, 0xff, 0x7d]),
    ];

    it.each([...odd, ...binary])('%j goes through a whole life with its fence', async (key) => {
      const lock = makeLock(key);
      expect(await run.acquire(lock.mine)).toMatchObject({ word: 'granted', fence: expect.any(Number) });
      expect(await run.acquire(lock.theirs)).toMatchObject({ word: 'held' });
      expect(await run.renew(lock.mine)).toMatchObject({ word: 'renewed' });
      expect(await run.check(lock.mine)).toMatchObject({ word: 'held' });
      expect(await redis.exists(lock.fenceKey)).toBe(1);
      expect(await run.release(lock.mine)).toMatchObject({ word: 'released' });
      expect(await run.check(lock.mine)).toMatchObject({ word: 'expired', latestFence: expect.any(Number) });
    });
  });
}
