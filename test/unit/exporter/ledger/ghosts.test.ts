import { expect, it } from 'vitest';
import { Ghosts } from '../../../../exporter/ledger/ghosts.js';
import { HoldTable } from '../../../../exporter/ledger/hold-table.js';
import { Producer } from '../../../../exporter/ledger/producers.js';
import { LedgerBench } from './batches.js';
import { HOLD } from './events.js';

it('a suspect that was forgotten for want of room gives its row back when its client is forgotten', () => {
  const producer = new Producer(new LedgerBench().batch('producer-a'));
  const limits = { maxHolds: 1, maxEnded: 1, maxProducers: 1 };
  const table = new HoldTable(limits, { holds: 0, ended: 0, producers: 0 }, 0);
  const ghosts = new Ghosts('orders', table);
  const hold = table.add(HOLD, producer, 1);
  hold.state = 'live';
  hold.grant(1_000_000, 's1', 7);
  ghosts.looked([{ ...HOLD, serverUs: 2_000_000, serverId: 's1', state: 'gone' }], 2);
  table.add({ ...HOLD, lock: 'fedcba9876543210', owner: 'bbbbbbbbbbbbbbbb' }, producer, 3);
  expect(hold.place).toBe('forgotten');
  ghosts.forget(producer);
  expect(hold.place).toBe('spare');
});
