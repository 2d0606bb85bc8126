import { startRedis } from '../../support/redis-server.js';
import { describeScripts } from './script-suite.js';

describeScripts('one server', async () => {
  const server = await startRedis();
  return { connection: server.client(), stop: () => server.stop() };
});
