import type { Family, Ip } from '../../net/index.ts';
import { addressOf, check, connect, lastErrno, recvmsg, sendmsg } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { closeOnError } from './descriptor.ts';
import { openBound, openRaw, setOption } from './raw-socket.ts';

const IPPROTO_IP = 0;
const IP_PKTINFO = 8;
const IPPROTO_IPV6 = 41;
const IPV6_RECVPKTINFO = 49;
const IPV6_PKTINFO = 50;
const MSG_NOSIGNAL = 0x4000;

/**
 * A socket for datagrams to any address of this machine. With each datagram the kernel reports to which address it was
 * sent.
 */
export function bindDatagrams(namespace: NetworkNamespace | undefined, family: Family, ip: Ip, port: number): number {
  return closeOnError(openBound(namespace, family, 'UDP', ip, port), fd => {
    if (family === 'IPv4') setOption(fd, IPPROTO_IP, IP_PKTINFO, 1);
    else setOption(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    return fd;
  });
}

/** A socket that sends to one address and receives only from it. */
export function connectDatagrams(namespace: NetworkNamespace | undefined, family: Family, address: Buffer): number {
  return closeOnError(openRaw(namespace, family, 'UDP'), fd => {
    check(connect(fd, address, address.length), 'connect a UDP socket');
    return fd;
  });
}

/** The size of `struct msghdr` on 64-bit machines. */
const MSGHDR_SIZE = 56;
const CMSG_HEADER = 16;
const MAX_DATAGRAM_BYTES = 65535;

interface Layout {
  readonly addressSize: number;
  readonly level: number;
  readonly type: number;
  /** The size of `struct in_pktinfo` or `struct in6_pktinfo`. */
  readonly infoSize: number;
  /** Where in that structure this machine's address is. */
  readonly ownOffset: number;
  readonly ownSize: number;
}

const LAYOUTS: Readonly<Record<Family, Layout>> = {
  IPv4: { addressSize: 16, level: IPPROTO_IP, type: IP_PKTINFO, infoSize: 12, ownOffset: 4, ownSize: 4 },
  IPv6: { addressSize: 28, level: IPPROTO_IPV6, type: IPV6_PKTINFO, infoSize: 20, ownOffset: 0, ownSize: 16 },
};

/**
 * Receives and sends datagrams of a bound socket, each with the peer's address and this machine's own address. An
 * answer must come from the address that the client sent to, or the client does not accept it.
 */
export class DatagramExchange {
  /** Begins with the datagram that was received last. */
  readonly payload = Buffer.allocUnsafeSlow(MAX_DATAGRAM_BYTES);
  /** The sender of the last datagram, as a sockaddr. */
  readonly peer: Buffer;
  /** The address of this machine that the last datagram was sent to. */
  readonly own: Buffer;
  readonly #layout: Layout;
  readonly #message = Buffer.alloc(MSGHDR_SIZE);
  readonly #vector = Buffer.alloc(16);
  readonly #control = Buffer.alloc(64);

  constructor(family: Family) {
    this.#layout = LAYOUTS[family];
    const { addressSize, ownOffset, ownSize } = this.#layout;
    this.peer = Buffer.alloc(addressSize);
    this.own = this.#control.subarray(CMSG_HEADER + ownOffset, CMSG_HEADER + ownOffset + ownSize);
    this.#message.writeBigUInt64LE(addressOf(this.peer), 0);
    this.#message.writeBigUInt64LE(addressOf(this.#vector), 16);
    this.#message.writeBigUInt64LE(1n, 24);
    this.#message.writeBigUInt64LE(addressOf(this.#control), 32);
    this.#vector.writeBigUInt64LE(addressOf(this.payload), 0);
  }

  /** Receives one datagram. Returns its length, or a negative errno. */
  receive(fd: number): number {
    this.#prepare(this.payload.length, this.#control.length);
    const count = recvmsg(fd, this.#message, 0);
    return count >= 0 ? count : -lastErrno();
  }

  /** Sends the first `length` bytes of the payload. Returns a negative errno if the kernel refuses. */
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
    return count >= 0 ? count : -lastErrno();
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
