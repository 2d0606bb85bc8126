// An application in CommonJS that has metrics of its own and loads the client twice, as a hot reload does.
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { collectDefaultMetrics, register } = require('prom-client');

async function namesOfAll() {
  const metrics = await register.getMetricsAsJSON();
  return JSON.stringify(metrics.map(({ name }) => name));
}

async function main() {
  collectDefaultMetrics();
  const before = await namesOfAll();
  const file = pathToFileURL(join(__dirname, '../../dist/client/index.js')).href;
  const [first, second] = [await import('redis-lock-exporter/client'), await import(`${file}?again`)];
  const results = [];
  for (const { LockClient, createLockConnection } of [first, second]) {
    const redis = createLockConnection({ url: process.env.REDIS_URL });
    const clients = [1, 2].map(() => new LockClient({ redis, store: 'default' }));
    for (const client of clients) {
      results.push(await client.withLock('lock:a:1', { leaseMs: 5000 }, async () => 'done'));
      await client.close();
    }
    redis.disconnect();
  }
  const isUntouched = before === (await namesOfAll()) && before.length > 2;
  process.stdout.write(`${JSON.stringify({ results, copies: first !== second, isUntouched })}\n`);
}

main();
