import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { BRIEF_GOODBYE, type ClientOptions } from '../../support/redis-server.js';
import { PTTL_NO_EXPIRY, PTTL_NO_KEY, raw, redisErrors, silence } from '../../support/resp-reply.js';
import { type RespStub, type RespStubOptions, startRespStub, stubInfo } from '../../support/resp-stub.js';

const cleanups: (() => unknown)[] = [];

async function stub(options: RespStubOptions = {}): Promise<RespStub> {
  const started = await startRespStub(options);
  cleanups.push(() => started.stop());
  return started;
}

function client(server: RespStub, options: ClientOptions = {}): Redis {
  const redis = new Redis({ port: server.port, ...BRIEF_GOODBYE, ...options });
  redis.on('error', () => {});
  cleanups.push(() => redis.disconnect());
  return redis;
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe('startRespStub', () => {
  it.each([2, 3] as const)(
    'lets ioredis connect over RESP%i and answers what the handler says',
    async (protocol) => {
      const server = await stub({
        handler: (_args, { command }) => {
          if (command === 'PTTL') return PTTL_NO_KEY;
          if (command === 'TTL') return PTTL_NO_EXPIRY;
          if (command === 'GET') return null;
          return command === 'SCAN' ? ['0', ['lock:a', Buffer.from([0xff, 0x00])]] : undefined;
        },
      });
      const redis = client(server, { protocol, db: 3, password: 'x', connectionName: 'me' });
      expect(await redis.pttl('a')).toBe(-2);
      expect(await redis.ttl('a')).toBe(-1);
      expect(await redis.get('a')).toBeNull();
      const [cursor, keys] = await redis.scanBuffer(0, 'MATCH', 'lock:*');
      expect([String(cursor), keys[1]]).toEqual(['0', Buffer.from([0xff, 0x00])]);
      expect(server.requestsOf('scan')).toEqual([['SCAN', '0', 'MATCH', 'lock:*']]);
      expect(server.requestsOf('select')).toEqual([['SELECT', '3']]);
    },
  );

  it.each(
    Object.entries({
      LOADING: redisErrors.loading(),
      MOVED: redisErrors.moved(42, '127.0.0.1', 7001),
      CLUSTERDOWN: redisErrors.clusterDown(),
      NOPERM: redisErrors.noPerm('set'),
      READONLY: redisErrors.readOnly(),
      MISCONF: redisErrors.misconf(),
      OOM: redisErrors.oom(),
    }),
  )('answers %s as an error', async (code, reply) => {
    const server = await stub({ handler: (_args, { command }) => (command === 'SET' ? reply : undefined) });
    await expect(client(server).set('a', '1')).rejects.toThrow(new RegExp(`^${code} `));
  });

  it('turns a client away as a full server does', async () => {
    const server = await stub({ greeting: redisErrors.maxClients() });
    const redis = client(server, { retryStrategy: () => null, lazyConnect: true });
    await expect(redis.connect()).rejects.toThrow();
    server.greeting = undefined;
    expect(await client(server).ping()).toBe('PONG');
  });

  it('can be loading first and ready later', async () => {
    const server = await stub({
      handler: (_args, { command, count }) =>
        command === 'INFO' && count === 1 ? stubInfo({ loading: 1, loading_eta_seconds: 0.01 }) : undefined,
    });
    expect(await client(server).ping()).toBe('PONG');
    expect(server.requestsOf('info')).toHaveLength(2);
  });

  it('can keep silent, and answer in order when a handler takes its time', async () => {
    const server = await stub({
      handler: async (_args, { command }) => {
        if (command === 'GET') return silence();
        await new Promise((resolve) => setTimeout(resolve, command === 'INCR' ? 20 : 0));
        return command === 'INCR' ? raw(':7\r\n') : undefined;
      },
    });
    const redis = client(server);
    expect(await Promise.all([redis.incr('a'), redis.ping()])).toEqual([7, 'PONG']);
    const silent = client(server, { commandTimeout: 50 });
    await expect(silent.get('a')).rejects.toThrow('Command timed out');
  });

  it('refuses what nobody has told it', async () => {
    await expect(client(await stub()).get('a')).rejects.toThrow("unknown command 'get'");
  });
});
