import type { Family, Ip } from '../../net/index.ts';
import { addressOf, check, connect, errno, recvmsg, sendmsg } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { guarded, openBound, openRaw, setOption } from './raw-socket.ts';

const IPPROTO_IP = 0;
const IP_PKTINFO = 8;
const IPPROTO_IPV6 = 41;
const IPV6_RECVPKTINFO = 49;
const IPV6_PKTINFO = 50;
const MSG_NOSIGNAL = 0x4000;

/** A socket for datagrams to any of this machine's addresses, which tells to which of them each was sent. */
export function bindDatagrams(namespace: NetworkNamespace | undefined, family: Family, ip: Ip, port: number): number {
  return guarded(openBound(namespace, family, 'UDP', ip, port), fd => {
    if (family === 'IPv4') setOption(fd, IPPROTO_IP, IP_PKTINFO, 1);
    else setOption(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  });
}

/** A socket that talks to one address only. */
export function connectDatagrams(namespace: NetworkNamespace | undefined, family: Family, address: Buffer): number {
  return guarded(openRaw(namespace, family, 'UDP'), fd => {
    check(connect(fd, address, address.length), 'connect');
  });
}

/** `struct msghdr` and what it points to, of 64-bit machines. */
const MSGHDR_SIZE = 56;
const CMSG_HEADER = 16;
const LARGEST_DATAGRAM = 65535;

interface Layout {
  readonly addressSize: number;
  readonly level: number;
  readonly type: number;
  /** Of `struct in_pktinfo` or `struct in6_pktinfo`, and where the machine's own address is in it. */
  readonly infoSize: number;
  readonly ownAt: number;
  readonly ownSize: number;
}

const LAYOUTS: Readonly<Record<Family, Layout>> = {
  IPv4: { addressSize: 16, level: IPPROTO_IP, type: IP_PKTINFO, infoSize: 12, ownAt: 4, ownSize: 4 },
  IPv6: { addressSize: 28, level: IPPROTO_IPV6, type: IPV6_PKTINFO, infoSize: 20, ownAt: 0, ownSize: 16 },
};

/**
 * Receives and sends datagrams of a bound socket, each with the other end's address and this machine's own. An answer
 * must come from the address that was asked, or nobody will know it for an answer.
 */
export class DatagramExchange {
  /** The last datagram received is at the beginning of this. */
  readonly payload = Buffer.allocUnsafeSlow(LARGEST_DATAGRAM);
  /** As a sockaddr: where the last one came from. */
  readonly peer: Buffer;
  /** This machine's address that it was sent to. */
  readonly own: Buffer;
  readonly #layout: Layout;
  readonly #message = Buffer.alloc(MSGHDR_SIZE);
  readonly #vector = Buffer.alloc(16);
  readonly #control = Buffer.alloc(64);

  constructor(family: Family) {
    this.#layout = LAYOUTS[family];
    const { addressSize, ownAt, ownSize } = this.#layout;
    this.peer = Buffer.alloc(addressSize);
    this.own = this.#control.subarray(CMSG_HEADER + ownAt, CMSG_HEADER + ownAt + ownSize);
    this.#message.writeBigUInt64LE(addressOf(this.peer), 0);
    this.#message.writeBigUInt64LE(addressOf(this.#vector), 16);
    this.#message.writeBigUInt64LE(1n, 24);
    this.#message.writeBigUInt64LE(addressOf(this.#control), 32);
    this.#vector.writeBigUInt64LE(addressOf(this.payload), 0);
  }

  /** The length of the datagram, or a negative errno. */
  receive(fd: number): number {
    this.#prepare(this.payload.length, this.#control.length);
    const count = recvmsg(fd, this.#message, 0);
    return count >= 0 ? count : -errno();
  }

  /** Sends the first `length` bytes of the payload. A negative errno if it was not taken. */
  send(fd: number, length: number, peer: Buffer, own: Buffer): number {
    const { level, type, infoSize } = this.#layout;
    peer.copy(this.peer);
    this.#control.fill(0);
    this.#control.writeBigUInt64LE(BigInt(CMSG_HEADER + infoSize), 0);
    this.#control.writeInt32LE(level, 8);
    this.#control.writeInt32LE(type, 12);
    own.copy(this.own);
    this.#prepare(length, CMSG_HEADER + roundUp(infoSize));
    const count = sendmsg(fd, this.#message, MSG_NOSIGNAL);
    return count >= 0 ? count : -errno();
  }

  #prepare(payload: number, control: number): void {
    this.#message.writeUInt32LE(this.#layout.addressSize, 8);
    this.#message.writeBigUInt64LE(BigInt(control), 40);
    this.#message.writeInt32LE(0, 48);
    this.#vector.writeBigUInt64LE(BigInt(payload), 8);
  }
}

function roundUp(size: number): number {
  return (size + 7) & ~7;
}
