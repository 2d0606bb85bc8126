import { afterEach, expect, it, vi } from 'vitest';
import { createLockConnection } from '../../../client/index.js';
import { freePort } from '../../support/free-port.js';
import { waitFor } from '../../support/wait-for.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it('an outage is told by one warning and not by a line for each try', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const print = vi.spyOn(console, 'error').mockImplementation(() => {});
  const redis = createLockConnection({ host: '127.0.0.1', port: await freePort() });
  let tries = 0;
  redis.on('reconnecting', () => {
    tries += 1;
  });
  await waitFor(() => tries >= 4, { what: 'four tries' });
  redis.disconnect();
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('ECONNREFUSED'), {
    code: 'REDIS_LOCK_CONNECTION',
  });
  expect(print).not.toHaveBeenCalled();
});
