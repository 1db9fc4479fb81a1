import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import {
  closeRaw,
  connectResult,
  connectStream,
  encodeSocketAddress,
  portOf,
  transmit,
} from '../../src/kernel/sockets/index.ts';
import { getOption } from '../../src/kernel/sockets/raw-socket.ts';
import { familyOf, type Ip } from '../../src/net/index.ts';

const KEEP_ALIVE = { keepAliveSeconds: 3600 };
const BYTE = Buffer.from('x');

const IPPROTO_TCP = 6;
/** The first byte of `struct tcp_info` is the state. */
const TCP_INFO = 11;
const ESTABLISHED = 1;

function isConnected(fd: number): boolean {
  return (getOption(fd, IPPROTO_TCP, TCP_INFO) & 0xff) === ESTABLISHED;
}

/** Many open TCP connections of one network namespace to one address. They stay idle. */
export class ConnectionCrowd {
  readonly #descriptors: number[];

  constructor(namespace: NetworkNamespace, ip: Ip, port: number, count: number) {
    const address = encodeSocketAddress(ip, port);
    this.#descriptors = Array.from({ length: count }, () =>
      connectStream(namespace, familyOf(ip), address, KEEP_ALIVE),
    );
  }

  areConnected(): boolean {
    return this.#descriptors.every(isConnected);
  }

  /** By local port, which names a connection. */
  get ports(): readonly number[] {
    return this.#descriptors.map(portOf);
  }

  /** The local ports of the connections that are still open. */
  get open(): readonly number[] {
    return this.#descriptors.filter(isConnected).map(portOf);
  }

  /** The errors of the sockets, each once. Asking takes the error from the socket. */
  takeErrors(): readonly string[] {
    return [...new Set(this.#descriptors.flatMap(fd => connectResult(fd) ?? []))].sort();
  }

  /** Sends a byte on all connections. */
  speak(): void {
    for (const fd of this.#descriptors) transmit(fd, BYTE, 1);
  }

  /** May be called twice. */
  close(): void {
    for (const fd of this.#descriptors.splice(0)) closeRaw(fd);
  }
}
