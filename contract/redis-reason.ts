import type { RedisReason } from './outcomes.js';

/** First words of Redis's error replies. */
const BY_CODE: ReadonlyMap<string, RedisReason> = new Map([
  ['READONLY', 'readonly'],
  ['WRONGTYPE', 'wrong_type'],
  ['LOADING', 'loading'],
  ['BUSY', 'busy'],
  ['OOM', 'out_of_memory'],
  ['NOPERM', 'no_permission'],
  ['NOAUTH', 'no_auth'],
  ['WRONGPASS', 'no_auth'],
  ['CLUSTERDOWN', 'cluster_down'],
  ['CROSSSLOT', 'cross_slot'],
  ['MOVED', 'moved'],
  ['ASK', 'moved'],
  ['TRYAGAIN', 'moved'],
  ['MASTERDOWN', 'master_down'],
  ['NOREPLICAS', 'no_replicas'],
  ['NOSCRIPT', 'script'],
]);

/** Texts of replies whose first word is only `ERR`, in the order in which they are tried. */
const BY_TEXT: readonly (readonly [RegExp, RedisReason])[] = [
  [/max number of clients/i, 'max_clients'],
  [/operation not permitted|invalid password|without any password/i, 'no_auth'],
  // Inside a script Redis 7 words an ACL refusal in its own way, and does not begin it with NOPERM.
  [/can't run this command|no permissions|can't access at least one of the keys/i, 'no_permission'],
  [/script|lua/i, 'script'],
];

/**
 * Sorts an error reply of Redis, by its text, into the reasons that clients and exporter share. Errors of the
 * connection are not replies: each side sorts them before it asks.
 */
export function reasonOfReply(message: string): RedisReason {
  // Redis 6 wraps the error of a command inside a script: "ERR Error running script ... @user_script:3: WRONGTYPE ...".
  const codes = [/^[A-Z]+/.exec(message)?.[0], /@user_script:\s?\d+: -?([A-Z]+)/.exec(message)?.[1]];
  for (const code of codes) {
    const known = BY_CODE.get(code ?? '');
    if (known !== undefined) return known;
  }
  return BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? 'other';
}
