import { describe, expect, it } from 'vitest';
import { countOtherForms, readScripts } from './same-block.js';

/** How a key's owner is found out. */
const BLOCK = { from: 'local function is_moved(reply)\n', last: '  return owner\nend\n' };

describe('the scripts that tell whose a key is', () => {
  const sources = readScripts(['sample', 'look']);

  it('tell it by the same lines', () => {
    expect(countOtherForms(sources, BLOCK)).toBe(0);
  });

  it('the gate can fail', () => {
    const [first = '', ...others] = sources;
    expect(countOtherForms([first.replace('<= longest', '< longest'), ...others], BLOCK)).toBe(1);
  });
});
