import type { Ip } from '../../net/index.ts';
import type { MessageWriter } from '../netlink/index.ts';
import { decodeAddress, encodeAddress } from './address.ts';
import { Data } from './message.ts';

/** `10.96.0.1` */
export interface HashIp {
  readonly kind: 'hash:ip';
  readonly ip: Ip;
}

export function encodeHashIp(writer: MessageWriter, { ip }: HashIp): void {
  encodeAddress(writer, Data.IP, ip);
}

export function decodeHashIp(data: ReadonlyMap<number, Buffer>): HashIp | undefined {
  const ip = decodeAddress(data.get(Data.IP));
  return ip === undefined ? undefined : { kind: 'hash:ip', ip };
}

export function printHashIp({ ip }: HashIp): string {
  return ip;
}
