import { describe, expect, it } from 'vitest';
import { RespRequestParser } from '../../support/resp-request.js';

describe('RespRequestParser', () => {
  it('finds the same requests however the bytes are cut', () => {
    const stream = Buffer.from('*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\nPING now\r\n*1\r\n$0\r\n\r\n*0\r\n');
    const whole = new RespRequestParser().push(stream);
    expect(whole.map(({ args }) => args.map(String))).toEqual([['GET', 'a\r\nb'], ['PING', 'now'], [''], []]);
    const parser = new RespRequestParser();
    const pieces = [...stream].flatMap((byte) => parser.push(Buffer.from([byte])));
    expect(pieces).toEqual(whole);
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes))).toEqual(stream);
    expect(parser.pendingBytes).toBe(0);
  });

  it('says so when the stream is not RESP', () => {
    expect(() => new RespRequestParser().push(Buffer.from('*1\r\n:1\r\n'))).toThrow('not a RESP request');
  });
});
