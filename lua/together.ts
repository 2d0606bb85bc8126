import type { RedisLockError } from '../contract/errors.js';
import { nameScript, type Script, type ScriptArgument } from './connection.js';
import { badReply, decodeAcquire, decodeRelease } from './decode.js';
import type { AcquireReply, ReleaseReply } from './replies.js';
import type { AcquireArgs, LockArgs } from './scripts.js';

/** One acquire or release, to be carried out together with others. */
export type TogetherCall =
  | { readonly script: 'acquire'; readonly args: AcquireArgs }
  | { readonly script: 'release'; readonly args: LockArgs };

/** What became of one call: what its script answered, or the error that it met alone. */
export type TogetherReply = AcquireReply | ReleaseReply | Error;

/**
 * One script that carries out several calls in their order, made of the texts of the two scripts themselves: each
 * becomes a function whose parameters stand in the place of the KEYS and ARGV that Redis gives to a script.
 *
 * ARGV[1] has a letter for each call: `A` acquire or `R` release with a fence key, `a` or `r` without. The keys and
 * the arguments of the calls follow one another. The answer has one element for each call: the text that the script
 * answered, or the error that stopped it. An error of one call, the refused SET of a full server say, never touches
 * the others; but what only a replica says stands for all of them. (Redis looks whether it is full before the first write of a script: acquires that follow a release are
 * granted also by a full server, 15 small keys at most.)
 */
export function composeTogether(acquireSource: string, releaseSource: string): Script {
  return nameScript(`local function acquire(KEYS, ARGV)
${acquireSource}
end
local function release(KEYS, ARGV)
${releaseSource}
end
local plan, replies, key, arg = ARGV[1], {}, 1, 2
for at = 1, #plan do
  local letter = string.sub(plan, at, at)
  local keys = { KEYS[key] }
  key = key + 1
  if letter == 'A' or letter == 'R' then
    keys[2] = KEYS[key]
    key = key + 1
  end
  local ok, reply
  if letter == 'A' or letter == 'a' then
    ok, reply = pcall(acquire, keys, { ARGV[arg], ARGV[arg + 1], ARGV[arg + 2] })
    arg = arg + 3
  else
    ok, reply = pcall(release, keys, { ARGV[arg] })
    arg = arg + 1
  end
  -- What redis.call() raises is text by now, in older versions with a place in front of it.
  if not ok and type(reply) ~= 'table' then
    reply = { err = string.match(reply, '%u%u%u+ .*') or ('ERR ' .. reply) }
    -- A replica has written nothing. As an answer of its own this tells the connection to look for the master.
    if string.find(reply.err, '^READONLY') then return reply end
  end
  replies[at] = reply
end
return replies
`);
}

/** KEYS of a joint script. */
export function keysOfAll(calls: readonly TogetherCall[]): (string | Buffer)[] {
  const keys: (string | Buffer)[] = [];
  for (const { args } of calls) {
    keys.push(args.key);
    if (args.fenceKey !== null) keys.push(args.fenceKey);
  }
  return keys;
}

/** ARGV of a joint script. */
export function argvOfAll(calls: readonly TogetherCall[]): ScriptArgument[] {
  let plan = '';
  const argv: ScriptArgument[] = [plan];
  for (const call of calls) {
    const { args } = call;
    argv.push(args.token);
    if (call.script === 'acquire') {
      argv.push(call.args.leaseMs, call.args.fenceTtlMs);
      plan += args.fenceKey === null ? 'a' : 'A';
    } else plan += args.fenceKey === null ? 'r' : 'R';
  }
  argv[0] = plan;
  return argv;
}

/** @throws RedisLockError `bad_reply` when the answer as a whole is none of this script's */
export function decodeTogether(calls: readonly TogetherCall[], reply: unknown): TogetherReply[] {
  if (!Array.isArray(reply) || reply.length !== calls.length) throw badReply('together');
  return calls.map(({ script }, at) => decodeOne(script, reply[at]));
}

/** Never throws: what one call met is its own affair. */
function decodeOne(script: TogetherCall['script'], element: unknown): TogetherReply {
  if (element instanceof Error) return element;
  try {
    return script === 'acquire' ? decodeAcquire(element) : decodeRelease(element);
  } catch (error) {
    return error as RedisLockError;
  }
}
