import { describe, expect, it } from 'vitest';
import { reasonOfReply } from '../../../contract/index.js';

describe('an error reply of Redis', () => {
  it.each([
    ["READONLY You can't write against a read only replica.", 'readonly'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'wrong_type'],
    ['LOADING Redis is loading the dataset in memory', 'loading'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'out_of_memory'],
    [
      'ERR Error running script (call to f_1): @user_script:3: WRONGTYPE Operation against a key',
      'wrong_type',
    ],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'no_permission'],
    ["ERR The user executing the script can't run this command or subcommand script: f_1", 'no_permission'],
    [
      "ERR The user executing the script can't access at least one of the keys mentioned script: f_1",
      'no_permission',
    ],
    ['NOAUTH Authentication required.', 'no_auth'],
    ['ERR operation not permitted', 'no_auth'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'no_auth'],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'cross_slot'],
    ['MOVED 3999 127.0.0.1:6381', 'moved'],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'moved'],
    ['ERR max number of clients reached', 'max_clients'],
    ['NOSCRIPT No matching script. Please use EVAL.', 'script'],
    ['ERR user_script:1: Script attempted to access nonexistent global variable', 'script'],
    ['ERR something that no version says', 'other'],
    ['', 'other'],
  ])('%j is %s', (message, reason) => {
    expect(reasonOfReply(message)).toBe(reason);
  });
});
