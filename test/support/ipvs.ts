import { MessageWriter, readAttributes } from '../../src/kernel/netlink/index.ts';
import { captured } from './netlink.ts';

const HEADER = 16;
const GENERIC = 4;

/**
 * A message that ipvsadm sent, without some attributes: `leaveOut[object]` has their numbers. Our own messages do not
 * have these attributes, because the kernel ignores them or takes a missing one for zero.
 */
export function capturedWithout(hex: string, leaveOut: Readonly<Record<number, readonly number[]>>): string {
  const bytes = Buffer.from(captured(hex), 'hex');
  const writer = new MessageWriter().begin(bytes.readUInt16LE(4), bytes.readUInt16LE(6), 0);
  writer.struct(bytes.subarray(HEADER, HEADER + GENERIC));
  for (const { type, value } of readAttributes(bytes, HEADER + GENERIC)) {
    const nest = writer.nest(type);
    for (const { type: inner, value: content } of readAttributes(value)) {
      if (!leaveOut[type]?.includes(inner)) writer.data(inner, content);
    }
    writer.close(nest);
  }
  return writer.end().bytes.toString('hex');
}
