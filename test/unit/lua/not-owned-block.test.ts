import { describe, expect, it } from 'vitest';
import { countOtherForms, readScripts } from './same-block.js';

/** From the look at the lock to the answers of somebody who does not own it. */
const BLOCK = {
  from: "local holder = redis.pcall('GET', lock)\n",
  last: "return 'expired ' .. server_us .. ' ' .. latest\nend\n",
};

describe('the scripts that tell "you do not own this lock"', () => {
  const sources = readScripts(['release', 'renew', 'check']);

  it('tell it by the same lines', () => {
    expect(countOtherForms(sources, BLOCK)).toBe(0);
  });

  it('the gate can fail', () => {
    const [first = '', ...others] = sources;
    expect(countOtherForms([first.replace("latest = '- -'", "latest = '-'"), ...others], BLOCK)).toBe(1);
  });
});
