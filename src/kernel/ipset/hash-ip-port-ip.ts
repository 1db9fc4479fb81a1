import type { Ip } from '../../net/index.ts';
import type { MessageWriter } from '../netlink/index.ts';
import { decodeAddress, encodeAddress } from './address.ts';
import { Data } from './message.ts';
import { decodeProtocolPort, encodeProtocolPort, type ProtocolPort, printProtocolPort } from './port.ts';

/** `10.96.0.1,tcp:80,10.0.0.1` */
export interface HashIpPortIp extends ProtocolPort {
  readonly kind: 'hash:ip,port,ip';
  readonly ip: Ip;
  readonly ip2: Ip;
}

export function encodeHashIpPortIp(writer: MessageWriter, entry: HashIpPortIp): void {
  encodeAddress(writer, Data.IP, entry.ip);
  encodeProtocolPort(writer, entry);
  encodeAddress(writer, Data.IP2, entry.ip2);
}

export function decodeHashIpPortIp(data: ReadonlyMap<number, Buffer>): HashIpPortIp | undefined {
  const ip = decodeAddress(data.get(Data.IP));
  const ip2 = decodeAddress(data.get(Data.IP2));
  const port = decodeProtocolPort(data);
  return ip === undefined || ip2 === undefined || !port ? undefined : { kind: 'hash:ip,port,ip', ip, ...port, ip2 };
}

export function printHashIpPortIp(entry: HashIpPortIp): string {
  return `${entry.ip},${printProtocolPort(entry)},${entry.ip2}`;
}
