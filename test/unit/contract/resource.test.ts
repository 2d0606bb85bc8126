import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { field } from '../../../contract/event.js';
import {
  cleanResourceName,
  createResourceClassifier,
  MAX_RESOURCE_LENGTH,
  OTHER_RESOURCE,
  parseResourceRule,
  RedisLockError,
  ResourceCap,
} from '../../../contract/index.js';

describe('resource of a key', () => {
  it.each([
    ['lock:stock:1', 'stock'],
    ['lock:stock:1:eu', 'stock'],
    ['lock:stock', 'default'],
    ['lock:stock:', 'default'],
    ['lock::1', 'default'],
    ['lock:', 'default'],
    ['other:stock:1', 'default'],
    ['lock:__proto__:1', '__proto__'],
    ['lock:a\nb:1', 'a_b'],
  ])('%j is %s without a rule', (key, resource) => {
    expect(createResourceClassifier()(key)).toBe(resource);
  });

  it('takes the first rule that matches, captures included', () => {
    const rules = ['bull:<queue>:*:lock=bull-$queue', 'lock:stock:*=inventory', 'lock:*=rest'].map(
      parseResourceRule,
    );
    const classify = createResourceClassifier(rules);
    expect(classify('bull:mail:17:lock')).toBe('bull-mail');
    expect(classify('lock:stock:1')).toBe('inventory');
    expect(classify('lock:user:1')).toBe('rest');
    expect(classify('bull:mail:17:lock2')).toBe('default');
  });

  it('a capture takes one whole segment, also within a hash tag', () => {
    const classify = createResourceClassifier([parseResourceRule('{<app>:<queue>}:*=$app/$queue')]);
    expect(classify('{shop:mail}:1')).toBe('shop/mail');
    expect(classify('{shop:a:b}:1')).toBe('default');
  });

  it('takes characters that mean something to a regular expression literally', () => {
    const classify = createResourceClassifier([parseResourceRule('lo.k[1]+(a|b)$^*=odd')]);
    expect(classify('lo.k[1]+(a|b)$^x')).toBe('odd');
    expect(classify('lock1a')).toBe('default');
  });

  it('a text key and its bytes give the same resource; broken UTF-8 gives one too', () => {
    const classify = createResourceClassifier();
    expect(classify(Buffer.from('lock:größe:1'))).toBe(classify('lock:größe:1'));
    expect(classify(Buffer.from([...Buffer.from('lock:'), 0xff, 0xfe, ...Buffer.from(':1')]))).toBe(
      '\ufffd\ufffd',
    );
  });

  it.each([
    'nothing',
    '=x',
    'lock:*=',
    'a*b*c*d=x',
    '<a>:<a>=x',
    'lock:*=$missing',
    'lock:pre<a>=x',
    '<a><b>=x',
  ])('refuses the rule %j', (rule) => {
    expect(() => parseResourceRule(rule)).toThrowError(RedisLockError);
  });

  it('stays fast for a key made to be slow', () => {
    const classify = createResourceClassifier([parseResourceRule('*a*b=x')]);
    expect(classify('a'.repeat(100_000))).toBe('default');
  });
});

describe('resource names', () => {
  it('any text becomes a name that the contract takes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(field.resource.safeParse(cleanResourceName(text)).success).toBe(true);
      }),
    );
  });

  it('two long names that begin alike stay distinct', () => {
    const names = ['a', 'b'].map((end) => cleanResourceName('x'.repeat(100) + end));
    expect(new Set(names).size).toBe(2);
    expect(names.every((name) => name.length <= MAX_RESOURCE_LENGTH)).toBe(true);
  });

  it('beyond the cap they are counted together, and the true number is known', () => {
    const cap = new ResourceCap(2);
    expect(['a', 'b', 'c', 'd', 'a'].map((name) => cap.admit(name))).toEqual([
      'a',
      'b',
      OTHER_RESOURCE,
      OTHER_RESOURCE,
      'a',
    ]);
    expect(cap.admit(OTHER_RESOURCE)).toBe(OTHER_RESOURCE);
    expect(cap.distinct).toBe(4);
  });
});
