import type { Cidr, Ip } from '../../net/index.ts';
import type { MessageWriter } from '../netlink/index.ts';
import { decodeAddress, encodeAddress } from './address.ts';
import { Data } from './message.ts';
import { decodeNet, encodeNet, printNet } from './net.ts';
import { decodeProtocolPort, encodeProtocolPort, type ProtocolPort, printProtocolPort } from './port.ts';

/** `10.96.0.1,tcp:80,10.0.0.0/8`. The kernel refuses a network of prefix length 0. */
export interface HashIpPortNet extends ProtocolPort {
  readonly kind: 'hash:ip,port,net';
  readonly ip: Ip;
  readonly net: Cidr;
}

export function encodeHashIpPortNet(writer: MessageWriter, entry: HashIpPortNet): void {
  encodeAddress(writer, Data.IP, entry.ip);
  encodeProtocolPort(writer, entry);
  encodeNet(writer, Data.IP2, Data.CIDR2, entry.net);
}

export function decodeHashIpPortNet(data: ReadonlyMap<number, Buffer>): HashIpPortNet | undefined {
  const ip = decodeAddress(data.get(Data.IP));
  const port = decodeProtocolPort(data);
  const net = decodeNet(data, Data.IP2, Data.CIDR2);
  return ip === undefined || !port || !net ? undefined : { kind: 'hash:ip,port,net', ip, ...port, net };
}

export function printHashIpPortNet(entry: HashIpPortNet): string {
  return `${entry.ip},${printProtocolPort(entry)},${printNet(entry.net)}`;
}
