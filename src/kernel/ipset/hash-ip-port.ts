import type { Ip } from '../../net/index.ts';
import type { MessageWriter } from '../netlink/index.ts';
import { decodeAddress, encodeAddress } from './address.ts';
import { Data } from './message.ts';
import { decodeProtocolPort, encodeProtocolPort, type ProtocolPort, printProtocolPort } from './port.ts';

/** `10.96.0.1,tcp:80` */
export interface HashIpPort extends ProtocolPort {
  readonly kind: 'hash:ip,port';
  readonly ip: Ip;
}

export function encodeHashIpPort(writer: MessageWriter, entry: HashIpPort): void {
  encodeAddress(writer, Data.IP, entry.ip);
  encodeProtocolPort(writer, entry);
}

export function decodeHashIpPort(data: ReadonlyMap<number, Buffer>): HashIpPort | undefined {
  const ip = decodeAddress(data.get(Data.IP));
  const port = decodeProtocolPort(data);
  return ip === undefined || !port ? undefined : { kind: 'hash:ip,port', ip, ...port };
}

export function printHashIpPort(entry: HashIpPort): string {
  return `${entry.ip},${printProtocolPort(entry)}`;
}
