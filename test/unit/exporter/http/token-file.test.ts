import { expect, it } from 'vitest';
import { createTokenSource } from '../../../../exporter/http/token-file.js';
import { FakeClock } from '../../../support/clocks.js';

it('one token a line; the file is read again after a while, and a lost file leaves the last tokens in force', () => {
  const clock = new FakeClock();
  let text: string | undefined = 'one\r\n\n two \n';
  const tokens = createTokenSource(
    't',
    () => {
      if (text === undefined) throw new Error('gone');
      return text;
    },
    clock,
  );
  expect(tokens()).toEqual(['one', 'two']);
  text = 'three';
  expect(tokens()).toEqual(['one', 'two']);
  clock.jumpMono(2000);
  expect(tokens()).toEqual(['three']);
  text = undefined;
  clock.jumpMono(2000);
  expect(tokens()).toEqual(['three']);
});
