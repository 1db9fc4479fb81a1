import { KernelError } from '../errors.ts';
import {
  bind,
  check,
  close,
  lastErrnoName,
  type Poll,
  pollReadable,
  recv,
  sendto,
  setsockopt,
  socket,
} from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';

export const Protocol = { ROUTE: 0, SOCK_DIAG: 4, NETFILTER: 12, GENERIC: 16 } as const;
export type Protocol = (typeof Protocol)[keyof typeof Protocol];

/** Sends and receives the bytes of netlink. Tests use their own for errors that a kernel does not produce on demand. */
export interface Transport {
  send(bytes: Uint8Array): void;
  /** Sends from a thread of the pool, because the kernel handles all the bytes inside the call. */
  sendInBackground(bytes: Uint8Array): Promise<void>;
  /** Takes one datagram, or undefined if none is waiting. The next call overwrites the bytes. */
  receive(): Buffer | undefined;
  /**
   * The same in a thread of the pool. While a process receives a dump, the kernel makes the next part of it, and may
   * search a large table for that. Without this method the socket uses `receive`.
   */
  receiveInBackground?(): Promise<Buffer | undefined>;
  join(group: number): void;
  poll(onReadable: () => void): Poll;
  close(): void;
}

export interface TransportOptions {
  readonly namespace?: NetworkNamespace | undefined;
  /** The largest single send. With the kernel's default, the kernel refuses a send of more than 208 KiB. */
  readonly sendBuffer?: number;
  readonly receiveBuffer?: number | undefined;
}

const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 0o2000003;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;
const SOL_NETLINK = 270;
const NETLINK_ADD_MEMBERSHIP = 1;
const NETLINK_CAP_ACK = 10;
const NETLINK_EXT_ACK = 11;
const NETLINK_GET_STRICT_CHK = 12;
const MSG_DONTWAIT = 0x40;
const MSG_TRUNC = 0x20;
const RECEIVE_BUFFER = 256 << 10;

/** `struct sockaddr_nl` of the kernel itself. */
const KERNEL_ADDRESS = Buffer.from([AF_NETLINK, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

export function openTransport(protocol: Protocol, options: TransportOptions = {}): Transport {
  const { namespace } = options;
  const fd = namespace ? namespace.run(() => openSocket(protocol)) : openSocket(protocol);
  try {
    check(bind(fd, KERNEL_ADDRESS, KERNEL_ADDRESS.length), 'bind a netlink socket');
    setOption(fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
    setOption(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1);
    // Without strict checking the kernel ignores the filters of a dump request. Kernels before 4.20 lack the option.
    trySetOption(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1);
    sizeBuffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, options.sendBuffer ?? 64 << 20);
    sizeBuffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, options.receiveBuffer ?? 8 << 20);
  } catch (error) {
    close(fd);
    throw error;
  }
  return new SocketTransport(fd);
}

class SocketTransport implements Transport {
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(RECEIVE_BUFFER);
  #closed = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  send(bytes: Uint8Array): void {
    this.#refuseIfClosed();
    this.#checkSent(sendto(this.#fd, bytes, bytes.length, 0, KERNEL_ADDRESS, KERNEL_ADDRESS.length), bytes.length);
  }

  async sendInBackground(bytes: Uint8Array): Promise<void> {
    this.#refuseIfClosed();
    return new Promise((resolve, reject) => {
      sendto.async(
        this.#fd,
        bytes,
        bytes.length,
        0,
        KERNEL_ADDRESS,
        KERNEL_ADDRESS.length,
        (error: unknown, sent: number) => {
          // errno belongs to the thread, so this thread cannot read it. Sending again here sets it for this thread.
          if (error) return reject(error);
          if (sent === bytes.length) return resolve();
          try {
            resolve(this.send(bytes));
          } catch (cause) {
            reject(cause);
          }
        },
      );
    });
  }

  receive(): Buffer | undefined {
    const length = recv(this.#fd, this.#buffer, this.#buffer.length, MSG_DONTWAIT | MSG_TRUNC);
    if (length > this.#buffer.length) {
      const reason = `the datagram has ${length} bytes, but the buffer has only ${this.#buffer.length}`;
      throw new KernelError('KERNEL_PROTOCOL', { operation: 'receive a netlink datagram', reason });
    }
    if (length >= 0) return this.#buffer.subarray(0, length);
    const errno = lastErrnoName();
    if (errno === 'EAGAIN' || errno === 'EINTR') return undefined;
    const code = errno === 'ENOBUFS' ? 'KERNEL_OVERRUN' : 'KERNEL_SOCKET';
    throw new KernelError(code, { operation: 'receive a netlink datagram', errno });
  }

  async receiveInBackground(): Promise<Buffer | undefined> {
    this.#refuseIfClosed();
    const length = await new Promise<number>((resolve, reject) => {
      recv.async(
        this.#fd,
        this.#buffer,
        this.#buffer.length,
        MSG_DONTWAIT | MSG_TRUNC,
        (error: unknown, received: number) => (error ? reject(error) : resolve(received)),
      );
    });
    // errno belongs to the thread, so this thread receives again to read it.
    return length >= 0 && length <= this.#buffer.length ? this.#buffer.subarray(0, length) : this.receive();
  }

  join(group: number): void {
    setOption(this.#fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group);
  }

  poll(onReadable: () => void): Poll {
    return pollReadable(this.#fd, onReadable);
  }

  close(): void {
    if (!this.#closed) close(this.#fd);
    this.#closed = true;
  }

  /** Another file of this process may have the number of the closed descriptor by now. */
  #refuseIfClosed(): void {
    if (!this.#closed) return;
    throw new KernelError('KERNEL_SOCKET', { operation: 'send to netlink', reason: 'the socket is closed' });
  }

  #checkSent(sent: number, length: number): void {
    if (sent === length) return;
    const errno = sent < 0 ? lastErrnoName() : undefined;
    throw new KernelError('KERNEL_SOCKET', { operation: `send ${length} bytes to netlink`, errno });
  }
}

function openSocket(protocol: Protocol): number {
  return check(socket(AF_NETLINK, SOCK_RAW_CLOEXEC, protocol), 'open a netlink socket');
}

function setOption(fd: number, level: number, option: number, value: number): void {
  check(setsockopt(fd, level, option, int32(value), 4), `set the netlink socket option ${option}`);
}

function trySetOption(fd: number, level: number, option: number, value: number): void {
  setsockopt(fd, level, option, int32(value), 4);
}

/** The forced option may exceed the administrator's limit, but it needs CAP_NET_ADMIN in the initial user namespace. */
function sizeBuffer(fd: number, forced: number, plain: number, size: number): void {
  if (setsockopt(fd, SOL_SOCKET, forced, int32(size), 4) < 0) trySetOption(fd, SOL_SOCKET, plain, size);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
