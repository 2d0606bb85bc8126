import { expect, it } from 'vitest';
import { Producer } from '../../../../exporter/ledger/producers.js';

const BATCH = {
  store: 'default',
  producer: 'producer-a',
  startedAtMs: 1_796_000_000_000,
  seq: 1,
  app: 'shop',
  instance: 'pod-1',
  serverId: 's1',
  closing: false,
  receivedMonoMs: 0,
};

it('a set that never comes to its end takes no more room than there were holds when it began', () => {
  const producer = new Producer(BATCH);
  producer.beginSet(3);
  for (let order = 1; order <= 10_000; order += 1) producer.nameInSet({ order });
  expect([...(producer.pendingSet ?? [])]).toEqual([1, 2, 3]);
});
