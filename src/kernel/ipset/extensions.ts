import { asString, asU32BE, asU64BE, type MessageWriter } from '../netlink/index.ts';
import { Data, NET_BYTEORDER } from './message.ts';

/** What an entry can have besides its element. The set must have been created with the extension. */
export interface Extensions {
  /** The seconds that are left. 0 means forever. */
  readonly timeout?: number;
  readonly packets?: bigint;
  readonly bytes?: bigint;
  /** At most 255 bytes. */
  readonly comment?: string;
  /** Only for networks: an address in this network counts as not in the set. */
  readonly nomatch?: boolean;
}

const NOMATCH = 1 << 2;

export function encodeExtensions(writer: MessageWriter, extensions: Extensions): void {
  const { timeout, packets, bytes, comment, nomatch } = extensions;
  if (timeout !== undefined) writer.u32BE(Data.TIMEOUT | NET_BYTEORDER, timeout);
  if (nomatch) writer.u32BE(Data.FLAGS | NET_BYTEORDER, NOMATCH);
  if (bytes !== undefined) writer.u64BE(Data.BYTES | NET_BYTEORDER, bytes);
  if (packets !== undefined) writer.u64BE(Data.PACKETS | NET_BYTEORDER, packets);
  if (comment !== undefined) writer.string(Data.COMMENT, comment);
}

export function decodeExtensions(data: ReadonlyMap<number, Buffer>): Extensions {
  const timeout = asU32BE(data.get(Data.TIMEOUT));
  const packets = asU64BE(data.get(Data.PACKETS));
  const bytes = asU64BE(data.get(Data.BYTES));
  const comment = asString(data.get(Data.COMMENT));
  const nomatch = ((asU32BE(data.get(Data.FLAGS)) ?? 0) & NOMATCH) !== 0;
  return {
    ...(timeout !== undefined && { timeout }),
    ...(packets !== undefined && { packets }),
    ...(bytes !== undefined && { bytes }),
    ...(comment !== undefined && { comment }),
    ...(nomatch && { nomatch }),
  };
}

/** ` timeout 300 packets 0 bytes 0 comment "words"`. Begins with a blank unless empty. */
export function printExtensions({ timeout, packets, bytes, comment, nomatch }: Extensions): string {
  return [
    timeout === undefined ? '' : ` timeout ${timeout}`,
    nomatch ? ' nomatch' : '',
    packets === undefined ? '' : ` packets ${packets}`,
    bytes === undefined ? '' : ` bytes ${bytes}`,
    comment === undefined ? '' : ` comment "${comment}"`,
  ].join('');
}
