import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { lockId, ownerDigest } from '../../../contract/index.js';

/** The digest by another program, so that the test does not repeat the code. */
function sum(program: string, bytes: Buffer): string {
  return execFileSync(program, { input: bytes }).toString().slice(0, 16);
}

describe('names of locks and owners', () => {
  it('a lock id is SHA-256 over store, zero byte and key', () => {
    expect(lockId('shop', 'lock:stock:1')).toBe(sum('sha256sum', Buffer.from('shop\0lock:stock:1')));
  });

  it('an owner is SHA-1 over the token', () => {
    expect(ownerDigest('secret')).toBe(sum('sha1sum', Buffer.from('secret')));
  });

  it('a text key and its UTF-8 bytes are one lock; other stores and shifted borders are not', () => {
    expect(lockId('a', 'größe')).toBe(lockId('a', Buffer.from('größe')));
    expect(new Set([lockId('a', 'bc'), lockId('ab', 'c'), lockId('b', 'bc')]).size).toBe(3);
  });

  it('a binary key is not the key of its replacement characters', () => {
    expect(lockId('a', Buffer.from([0xff]))).not.toBe(lockId('a', '\ufffd'));
  });
});
