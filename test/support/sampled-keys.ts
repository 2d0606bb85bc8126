import type { SampleReply } from '../../lua/replies.js';

/** A key of a sample, to be kept. */
export interface KeyCopy {
  key: Buffer;
  leftMs: number | null;
  type: string | null;
  owner: string | null;
}

/** A sample's keys as objects of their own: the sample itself has one for all. */
export function copyKeys({ keys }: Pick<SampleReply, 'keys'>): KeyCopy[] {
  const copies: KeyCopy[] = [];
  keys.forEach(({ bytes, start, end, leftMs, type, owner }) => {
    copies.push({ key: Buffer.from(bytes.subarray(start, end)), leftMs, type, owner });
  });
  return copies;
}

/** A record as sample.lua packs it. */
export function packKey(name: string | Buffer, left: number, owner = ''): Buffer {
  const key = typeof name === 'string' ? Buffer.from(name, 'latin1') : name;
  const record = Buffer.alloc(28 + key.length, ' ');
  record.writeDoubleLE(left, 0);
  record.write(owner, 8, 'latin1');
  record.writeUInt32LE(key.length, 24);
  key.copy(record, 28);
  return record;
}
