import { expect, test } from 'vitest';
import { explainFailure, isTransient } from '../../../client/redis-errors.js';
import { RedisLockError } from '../../../contract/errors.js';
import { REDIS_REASONS } from '../../../contract/outcomes.js';

function named(name: string, message: string, fields: object = {}): Error {
  return Object.assign(new Error(message), { name, ...fields });
}

const reply = (message: string) => named('ReplyError', message);

// Texts of Redis 7.0.15 and ioredis 6.0.0, and of Redis 6 where it differs.
test.each<[Error, string, boolean]>([
  [reply("READONLY You can't write against a read only replica."), 'readonly', true],
  [reply('WRONGTYPE Operation against a key holding the wrong kind of value'), 'wrong_type', true],
  [
    reply('ERR Error running script (call to f_a): @user_script:3: WRONGTYPE Operation against a key'),
    'wrong_type',
    true,
  ],
  [reply('LOADING Redis is loading the dataset in memory'), 'loading', true],
  [reply('BUSY Redis is busy running a script.'), 'busy', true],
  [reply("OOM command not allowed when used memory > 'maxmemory'."), 'out_of_memory', true],
  [reply("NOPERM this user has no permissions to run the 'evalsha' command"), 'no_permission', true],
  [reply('NOAUTH Authentication required.'), 'no_auth', true],
  [reply('WRONGPASS invalid username-password pair or user is disabled.'), 'no_auth', true],
  [reply('CLUSTERDOWN Hash slot not served'), 'cluster_down', true],
  [reply("CROSSSLOT Keys in request don't hash to the same slot"), 'cross_slot', true],
  [reply('MOVED 3999 127.0.0.1:6381'), 'moved', true],
  [reply('MASTERDOWN Link with MASTER is down'), 'master_down', true],
  [reply('NOREPLICAS Not enough good replicas to write.'), 'no_replicas', true],
  [reply('ERR max number of clients reached'), 'max_clients', true],
  [reply('NOSCRIPT No matching script.'), 'script', false],
  [reply('ERR user_script:7: attempt to index a nil value script: abc, on @user_script:7.'), 'script', false],
  [reply('MISCONF Redis is configured to save RDB snapshots'), 'other', true],
  [named('Error', 'Command timed out'), 'command_timeout', false],
  [named('Error', 'Connection is closed.'), 'connection', false],
  [named('Error', "Stream isn't writeable and enableOfflineQueue options is false"), 'connection', true],
  [named('Error', "Cluster isn't ready and enableOfflineQueue options is false"), 'connection', true],
  [
    named('MaxRetriesPerRequestError', 'Reached the max retries per request limit (which is 1).'),
    'connection',
    false,
  ],
  [
    named('Error', 'Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN down'),
    'cluster_down',
    false,
  ],
  [
    named('Error', 'Too many Cluster redirections. Last error: Error: Connection is closed.'),
    'connection',
    false,
  ],
  [named('ClusterAllFailedError', 'Failed to refresh slots cache.'), 'connection', false],
  [named('AbortError', 'Command aborted due to connection close'), 'connection', false],
  [named('Error', 'read ECONNRESET', { code: 'ECONNRESET' }), 'connection', false],
  [named('ParserError', 'Protocol error. Please report this.'), 'bad_reply', false],
  [new RedisLockError('bad_reply', 'What'), 'bad_reply', false],
  [new RedisLockError('invalid_option', 'The script refused leaseMs'), 'script', true],
  [named('TypeError', 'x is not a function'), 'other', false],
])('%s', (error, reason, notDone) => {
  expect(explainFailure(error)).toMatchObject({ reason, notDone });
});

test.each(['text', undefined, null, 7, {}])('%o, which is no error at all, is unknown', (thrown) => {
  expect(explainFailure(thrown)).toMatchObject({ reason: 'other', notDone: false });
});

test('the token and the key in an error of ioredis go no further', () => {
  const error = named(
    'ReplyError',
    "ERR unknown command 'evalsha', with args beginning with: 'sha' '1' 'lock:a' 'tok-en'",
    {
      command: { name: 'evalsha', args: ['sha', '1', 'lock:a', 'tok-en'] },
    },
  );
  const { cause } = explainFailure(error);
  expect(cause).toMatchObject({ name: 'ReplyError', message: "ERR unknown command 'evalsha'" });
  expect(
    JSON.stringify(cause, Object.getOwnPropertyNames(cause)) + String((cause as Error).stack),
  ).not.toMatch(/tok-en|lock:a/);
});

test('what waiting cannot mend is final', () => {
  expect(REDIS_REASONS.filter((reason) => !isTransient(reason)).sort()).toEqual([
    'bad_reply',
    'cross_slot',
    'moved',
    'no_auth',
    'no_permission',
    'script',
    'wrong_type',
  ]);
});
