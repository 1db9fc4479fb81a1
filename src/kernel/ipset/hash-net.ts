import type { Cidr } from '../../net/index.ts';
import type { MessageWriter } from '../netlink/index.ts';
import { Data } from './message.ts';
import { decodeNet, encodeNet, printNet } from './net.ts';

/** `10.0.0.0/8`. The kernel refuses a network of prefix length 0. */
export interface HashNet {
  readonly kind: 'hash:net';
  readonly net: Cidr;
}

export function encodeHashNet(writer: MessageWriter, { net }: HashNet): void {
  encodeNet(writer, Data.IP, Data.CIDR, net);
}

export function decodeHashNet(data: ReadonlyMap<number, Buffer>): HashNet | undefined {
  const net = decodeNet(data, Data.IP, Data.CIDR);
  return net && { kind: 'hash:net', net };
}

export function printHashNet({ net }: HashNet): string {
  return printNet(net);
}
