import { expect, it } from 'vitest';
import { RedisLockError } from '../../../../contract/errors.js';
import { redisReasonOf } from '../../../../exporter/sampler/redis-reason.js';

it.each([
  ['LOADING Redis is loading the dataset in memory', 'loading'],
  ["READONLY You can't write against a read only replica.", 'readonly'],
  ['NOAUTH Authentication required.', 'no_auth'],
  ['WRONGPASS invalid username-password pair or user is disabled.', 'no_auth'],
  ["NOPERM this user has no permissions to run the 'evalsha' command", 'no_permission'],
  ["ERR The user executing the script can't run this command or subcommand script: abc", 'no_permission'],
  ['MOVED 1 127.0.0.1:7000', 'moved'],
  ['CLUSTERDOWN The cluster is down', 'cluster_down'],
  ['BUSY Redis is busy running a script.', 'busy'],
  ['ERR max number of clients reached', 'max_clients'],
  ['ERR invalid password', 'no_auth'],
  ['Command timed out', 'command_timeout'],
  ['Connection is closed.', 'connection'],
  ["Stream isn't writeable and enableOfflineQueue options is false", 'connection'],
  ['All sentinels are unreachable. Retrying from scratch after 75ms.', 'connection'],
  [
    'All sentinels are unreachable. Retrying from scratch after 75ms. Last error: WRONGPASS invalid',
    'no_auth',
  ],
  ['All sentinels are unreachable. Last error: NOAUTH Authentication required.', 'no_auth'],
  ['All sentinels are unreachable. Last error: Command timed out', 'command_timeout'],
  ['All sentinels are unreachable. Last error: connect ECONNREFUSED 127.0.0.1:1', 'connection'],
  ['ERR DB index is out of range', 'other'],
  ['', 'other'],
])('%s: %s', (message, reason) => expect(redisReasonOf(new Error(message))).toBe(reason));

it('an error of the socket is the connection’s; of the script’s reply, a bad reply; what is no error, other', () => {
  expect(redisReasonOf(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe('connection');
  expect(redisReasonOf(new RedisLockError('bad_reply', 'x'))).toBe('bad_reply');
  expect(redisReasonOf(new RedisLockError('invalid_option', 'x'))).toBe('script');
  expect(redisReasonOf('x')).toBe('other');
});
