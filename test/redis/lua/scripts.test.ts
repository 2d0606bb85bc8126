import { startRedis } from '../../support/redis-server.js';
import { bindTogether } from './lock-store.js';
import { describeScripts } from './script-suite.js';

const oneServer = async () => {
  const server = await startRedis();
  return { connection: server.client(), stop: () => server.stop() };
};

describeScripts('one server', oneServer);
describeScripts('one server, several calls in one command', oneServer, bindTogether);
