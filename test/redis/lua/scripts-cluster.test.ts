import { startCluster } from '../../support/redis-cluster.js';
import { describeScripts } from './script-suite.js';

describeScripts('three masters', async () => {
  const cluster = await startCluster();
  return { connection: cluster.client(), stop: () => cluster.stop() };
});
