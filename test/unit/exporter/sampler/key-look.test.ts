import { expect, it } from 'vitest';
import { createKeyLook } from '../../../../exporter/sampler/key-look.js';
import { FakeClock } from '../../../support/clocks.js';

/** A server that has one key, and says this when it is asked for the time. */
function lookWithTime(time: unknown) {
  const replies = new Map<unknown, unknown>([
    ['TIME', time],
    ['GETRANGE', Buffer.from('token')],
    ['PTTL', 1000],
  ]);
  const batch = async (commands: readonly (readonly unknown[])[]) =>
    commands.map(([name]) => replies.get(name));
  return createKeyLook({ batch }, new FakeClock(), async () => 'run1')([Buffer.from('lock:a')]);
}

it('a look is dated by the clock of the server, which it names', async () => {
  const { moment } = await lookWithTime([Buffer.from('1796000000'), Buffer.from('5')]);
  expect(moment).toEqual({ serverUs: 1_796_000_000_000_005, serverId: 'run1' });
});

it('a look where TIME is forbidden names no server: its time is this machine’s, and not to be held against a grant', async () => {
  const { moment } = await lookWithTime(new Error('NOPERM this user has no permissions to run TIME'));
  expect(moment).toEqual({ serverUs: new FakeClock().wallMs() * 1000, serverId: null });
});
