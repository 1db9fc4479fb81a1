import koffi from 'koffi';
import { bind, check, close, connect, getsockopt, lastErrnoName, setsockopt, socket } from '../../src/kernel/libc.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { acceptStream, encodeSocketAddress, listenStream } from '../../src/kernel/sockets/index.ts';
import { type Family, familyOf, type Ip, ipFromBytes, joinHostPort, writeIp } from '../../src/net/index.ts';
import { loopbackOf, setLoopbackUp, withRoutes } from './namespaces.ts';

const libc = koffi.load('libc.so.6');
const getpeername = libc.func('int getpeername(int fd, void *address, void *length)');
const getsockname = libc.func('int getsockname(int fd, void *address, void *length)');

const DOMAINS: Readonly<Record<Family, number>> = { IPv4: 2, IPv6: 10 };
const TYPES = { TCP: 1, UDP: 2 } as const;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_LINGER = 13;
const SO_RCVTIMEO = 20;
const SO_SNDTIMEO = 21;
/** A `struct timeval`: connections inside one machine take microseconds, but the machine may be busy. */
const TIMEOUT_SECONDS = 20;
const SOCKET_ADDRESS_BYTES = 28;

export interface TestSocketOptions {
  /** By default TCP. */
  readonly type?: keyof typeof TYPES;
  /** A blocking socket, the default, waits until the connection is made or refused. */
  readonly isBlocking?: boolean;
}

/** A socket whose calls return what happened: `connected`, or the name of an errno. */
export class TestSocket {
  readonly fd: number;
  readonly #family: Family;

  constructor(namespace: NetworkNamespace, family: Family, options: TestSocketOptions = {}) {
    const { type = 'TCP', isBlocking = true } = options;
    const kind = TYPES[type] | SOCK_CLOEXEC | (isBlocking ? 0 : SOCK_NONBLOCK);
    this.#family = family;
    this.fd = namespace.run(() => check(socket(DOMAINS[family], kind, 0), `open a ${type} socket`));
    const timeout = Buffer.alloc(16);
    timeout.writeBigInt64LE(BigInt(TIMEOUT_SECONDS));
    for (const option of [SO_RCVTIMEO, SO_SNDTIMEO]) setsockopt(this.fd, SOL_SOCKET, option, timeout, timeout.length);
  }

  /** An IPv6 socket connects to an IPv4 address in IPv6 form. */
  connect(ip: Ip, port: number): string {
    const address = this.#address(ip, port);
    return connect(this.fd, address, address.length) < 0 ? lastErrnoName() : 'connected';
  }

  bind(ip: Ip, port: number): void {
    const address = this.#address(ip, port);
    check(bind(this.fd, address, address.length), `bind ${joinHostPort(ip, port)}`);
  }

  /** Connects to AF_UNSPEC: the socket can be connected again. */
  disconnect(): void {
    check(connect(this.fd, Buffer.alloc(16), 16), 'disconnect a socket');
  }

  /** What `getpeername` says. */
  peer(): string {
    return this.#name(getpeername);
  }

  /** What `getsockname` says. */
  own(): string {
    return this.#name(getsockname);
  }

  option(level: number, name: number): number {
    const [value, length] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32LE(value.length);
    check(getsockopt(this.fd, level, name, value, length), 'get a socket option');
    return value.readInt32LE();
  }

  /** Closes with a reset, so that nothing stays in TIME_WAIT. */
  close(): void {
    setsockopt(this.fd, SOL_SOCKET, SO_LINGER, Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]), 8);
    close(this.fd);
  }

  #address(ip: Ip, port: number): Buffer {
    if (this.#family === familyOf(ip)) return encodeSocketAddress(ip, port);
    const bytes = encodeSocketAddress('::' as Ip, port);
    bytes.fill(0xff, 18, 20);
    writeIp(ip, bytes, 20);
    return bytes;
  }

  #name(call: typeof getpeername): string {
    const [address, length] = [Buffer.alloc(SOCKET_ADDRESS_BYTES), Buffer.alloc(4)];
    length.writeUInt32LE(address.length);
    if (call(this.fd, address, length) < 0) return lastErrnoName();
    const isV4 = address.readUInt16LE(0) === DOMAINS.IPv4;
    const ip = ipFromBytes(isV4 ? address.subarray(4, 8) : address.subarray(8, 24));
    return joinHostPort(ip ?? '', address.readUInt16BE(2));
  }
}

/** A listening socket. */
export class TestListener {
  readonly fd: number;
  readonly name: string;

  constructor(namespace: NetworkNamespace, ip: Ip, port: number) {
    this.name = joinHostPort(ip, port);
    this.fd = listenStream(namespace, familyOf(ip), ip, port, { keepAliveSeconds: 60 });
  }

  /** Accepts a connection that is there, and closes it. Returns false if there is none. */
  takes(): boolean {
    const accepted = acceptStream(this.fd, Buffer.alloc(SOCKET_ADDRESS_BYTES));
    if (accepted < 0) return false;
    close(accepted);
    return true;
  }

  close(): void {
    close(this.fd);
  }
}

const MAX_FIRST_CALLS = 10;

/** A network namespace with addresses on its loopback interface, and with listeners there. It has no other network. */
export class TestNetwork {
  readonly namespace: NetworkNamespace;
  readonly #listeners: readonly TestListener[];

  /** `port` is that of the addresses that have none. */
  constructor(addresses: readonly (Ip | { readonly ip: Ip; readonly port: number })[], port = 8080) {
    const places = addresses.map(address => (typeof address === 'string' ? { ip: address, port } : address));
    this.namespace = NetworkNamespace.create();
    setLoopbackUp(this.namespace);
    withRoutes(this.namespace, route => {
      const lo = loopbackOf(route);
      for (const { ip } of places) {
        const isV6 = familyOf(ip) === 'IPv6';
        route.addAddress(lo, { ip, prefix: isV6 ? 128 : 32, ...(isV6 && { nodad: true }) });
      }
    });
    this.#listeners = places.map(({ ip, port }) => new TestListener(this.namespace, ip, port));
    for (const place of places) this.#waitForAnswer(place.ip, place.port);
  }

  /** Connects, and says which listener took the connection, or why there is none. */
  ask(ip: Ip, port: number, family = familyOf(ip)): string {
    const client = new TestSocket(this.namespace, family);
    try {
      const result = client.connect(ip, port);
      return result === 'connected' ? this.takenBy() : result;
    } finally {
      client.close();
    }
  }

  /** For some moments after the kernel got an IPv6 address, it may refuse connections to it with ENETUNREACH. */
  #waitForAnswer(ip: Ip, port: number): void {
    const wanted = joinHostPort(ip, port);
    for (let i = 0; i < MAX_FIRST_CALLS; i++) if (this.ask(ip, port) === wanted) return;
    throw new Error(`${wanted} does not answer`);
  }

  /** The listeners that take many connections, sorted. */
  answers(ip: Ip, port: number, family = familyOf(ip), tries = 40): readonly string[] {
    return [...new Set(Array.from({ length: tries }, () => this.ask(ip, port, family)))].sort();
  }

  /** The listener that has a connection. A connection that a client sees as made may reach it some moments later. */
  takenBy(): string {
    const end = performance.now() + TIMEOUT_SECONDS * 1000;
    while (performance.now() < end) {
      const listener = this.#listeners.find(listener => listener.takes());
      if (listener) return listener.name;
    }
    throw new Error('no listener has a connection');
  }

  close(): void {
    for (const listener of this.#listeners) listener.close();
    this.namespace.close();
  }
}
