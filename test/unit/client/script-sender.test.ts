import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_TOGETHER, ScriptSender } from '../../../client/script-sender.js';
import { ServerEpoch } from '../../../client/server-epochs.js';
import type { LockScripts } from '../../../lua/scripts.js';
import type { TogetherReply } from '../../../lua/together.js';

const released = { word: 'released', serverUs: 1 } as const;
const argsOf = (key: string) => ({
  key,
  fenceKey: null,
  token: `token of ${key}`,
  leaseMs: 1000,
  fenceTtlMs: 1000,
});
const waiting = { isUnanswered: true };
/** One connection to a server that surely has all keys. */
const wholeEpoch = () => Object.assign(new ServerEpoch(true), { id: 'run1', hasAllKeys: true });
const turnEnd = () => new Promise<void>((resolve) => setImmediate(resolve));

function replyError(message: string): Error {
  return Object.assign(new Error(message), { name: 'ReplyError' });
}

describe('the sender of scripts', () => {
  let sent: string[];
  /** Answers to joint commands, in turn; the default grants and releases everything. */
  let answers: (() => Promise<TogetherReply[]>)[];
  let epochs: { current: ServerEpoch; stop: () => void };

  const scripts = (): LockScripts => {
    const note = <Reply>(text: string, reply: Reply) => {
      sent.push(text);
      return Promise.resolve(reply);
    };
    return {
      acquire: (_, { key }) => note(`acquire ${key}`, { word: 'granted', serverUs: 1, fence: null }),
      release: (_, { key }) => note(`release ${key}`, released),
      renew: (_, { key }) => note(`renew ${key}`, { word: 'renewed', serverUs: 1 }),
      check: (_, { key }) => note(`check ${key}`, { word: 'held', serverUs: 1, leftMs: 1 }),
      sample: () => Promise.reject(new Error('not used')),
      together: (_, calls) => {
        sent.push(calls.map(({ script, args }) => `${script} ${args.key}`).join(' + '));
        return answers.shift()?.() ?? Promise.resolve(calls.map(() => released));
      },
    };
  };
  const make = (own: LockScripts = scripts(), joins = true) =>
    new ScriptSender({} as Redis, own, epochs, joins);

  beforeEach(() => {
    sent = [];
    answers = [];
    epochs = { current: wholeEpoch(), stop: () => {} };
  });

  it('sends the call of a lone caller at once, turn after turn', async () => {
    const sender = make();
    for (const key of ['a', 'b', 'c']) {
      const answer = sender.acquire(argsOf(key), waiting);
      expect(sent.at(-1)).toBe(`acquire ${key}`);
      await answer;
      sender.answered();
    }
  });

  it('sends those that come while another is under way at the end of the turn, in their order', async () => {
    const sender = make();
    const answers = [
      sender.acquire(argsOf('a'), waiting),
      sender.release(argsOf('b'), waiting),
      sender.acquire(argsOf('b'), waiting),
      sender.acquire(argsOf('c'), waiting),
    ];
    expect(sent).toEqual(['acquire a']);
    await Promise.all(answers);
    expect(sent).toEqual(['acquire a', 'release b + acquire b + acquire c']);
  });

  it('sends one that stays alone to the end of the turn as what it is', async () => {
    const sender = make();
    await Promise.all([sender.acquire(argsOf('a'), waiting), sender.release(argsOf('b'), waiting)]);
    expect(sent).toEqual(['acquire a', 'release b']);
  });

  it('does not hold back a long turn as a whole', () => {
    const sender = make();
    for (let index = 0; index <= 2 * MAX_TOGETHER; index += 1)
      void sender.acquire(argsOf(`${index}`), waiting);
    expect(sent.length).toBe(3);
  });

  it('lets no check and no renewal overtake what was gathered before', async () => {
    const sender = make();
    const calls = ['a', 'b', 'c'].map((key) => sender.release(argsOf(key), waiting));
    void sender.check(argsOf('d'));
    void sender.renew(argsOf('e'));
    expect(sent).toEqual(['release a', 'release b + release c', 'check d', 'renew e']);
    await Promise.all(calls);
  });

  it.each<[string, { hasAllKeys?: boolean; hasTogether?: boolean; joins?: boolean }]>([
    ['to a server that may have some of the keys only', { hasAllKeys: false }],
    ['with scripts that have no joint form', { hasTogether: false }],
    ['when it was told to', { joins: false }],
  ])('sends each alone %s', async (_, { hasAllKeys = true, hasTogether = true, joins = true }) => {
    const { together, ...without } = scripts();
    epochs.current.hasAllKeys = hasAllKeys;
    const sender = make(hasTogether && together ? { ...without, together } : without, joins);
    await Promise.all(['a', 'b', 'c'].map((key) => sender.acquire(argsOf(key), waiting)));
    expect(sent).toEqual(['acquire a', 'acquire b', 'acquire c']);
  });

  it('gives an error of one call to that one alone', async () => {
    answers = [() => Promise.resolve([released, replyError('OOM command not allowed')])];
    const sender = make();
    const settled = await Promise.allSettled(
      ['a', 'b', 'c'].map((key) => sender.release(argsOf(key), waiting)),
    );
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  });

  it('sends each alone when the command was refused as a whole, but none that nobody waits for any more', async () => {
    // The refusal comes in a later turn, as it would from a server.
    const refuse = () => Promise.reject(replyError('NOPERM No permissions to access a key'));
    answers = [() => turnEnd().then(turnEnd).then(refuse)];
    const sender = make();
    const gone = { isUnanswered: true };
    const calls = [
      sender.acquire(argsOf('a'), waiting),
      sender.acquire(argsOf('b'), waiting),
      sender.acquire(argsOf('c'), gone),
      sender.acquire(argsOf('d'), waiting),
    ];
    await turnEnd();
    gone.isUnanswered = false;
    const settled = await Promise.allSettled(calls);
    expect(sent).toEqual(['acquire a', 'acquire b + acquire c + acquire d', 'acquire b', 'acquire d']);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  });

  it('after a refusal goes on with each alone, in order, until the connection is made anew', async () => {
    answers = [
      () => turnEnd().then(() => Promise.reject(replyError('CROSSSLOT Keys don’t hash to the same slot'))),
    ];
    const sender = make();
    const first = ['x', 'y', 'z'].map((key) => sender.acquire(argsOf(key), waiting));
    await turnEnd();
    // Gathered while the refusal is on its way, and then followed by one that is sent at once.
    void Promise.resolve().then(() => sender.release(argsOf('w'), waiting));
    await Promise.all(first);
    sent = [];
    const two = () => Promise.all(['b', 'c'].map((key) => sender.acquire(argsOf(key), waiting)));
    await two();
    expect(sent).toEqual(['acquire b', 'acquire c']);
    epochs.current = wholeEpoch();
    sent = [];
    await two();
    expect(sent).toEqual(['acquire b + acquire c']);
  });

  it('does not let a call that is sent at once overtake gathered ones when joining ends in mid-turn', async () => {
    const sender = make();
    void sender.acquire(argsOf('a'), waiting);
    void sender.acquire(argsOf('b'), waiting);
    epochs.current.hasAllKeys = false;
    void sender.release(argsOf('b'), waiting);
    expect(sent).toEqual(['acquire a', 'acquire b', 'release b']);
    await turnEnd();
    expect(sent.length).toBe(3);
  });

  it.each([
    'READONLY You can’t write against a read only replica.',
    'LOADING Redis is loading the dataset in memory',
    'ERR upstream failure',
  ])('gives every caller the answer %s, and sends nothing again', async (message) => {
    answers = [() => Promise.reject(replyError(message))];
    const sender = make();
    const settled = await Promise.allSettled(
      ['a', 'b', 'c'].map((key) => sender.release(argsOf(key), waiting)),
    );
    expect(settled).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { message } },
      { status: 'rejected', reason: { message } },
    ]);
    expect(sent).toEqual(['release a', 'release b + release c']);
  });

  it('turns what a connection throws into the answer, alone and joint, and still knows who is under way', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const sender = make({ ...scripts(), acquire: broken, together: broken });
    for (let round = 0; round < 2; round += 1) {
      const settled = await Promise.allSettled(
        ['a', 'b', 'c'].map((key) => sender.acquire(argsOf(key), waiting)),
      );
      expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      for (const _ of settled) sender.answered();
    }
    await sender.release(argsOf('d'), waiting);
    expect(sent).toEqual(['release d']);
  });

  it('sends nothing again when the connection broke: it may have been carried out', async () => {
    answers = [() => Promise.reject(new Error('Connection is closed.'))];
    const sender = make();
    const settled = await Promise.allSettled(
      ['a', 'b', 'c'].map((key) => sender.release(argsOf(key), waiting)),
    );
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(sent).toEqual(['release a', 'release b + release c']);
  });
});
