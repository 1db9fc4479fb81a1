import koffi from 'koffi';
import { KernelError } from './errors.ts';

/**
 * The C library, as far as Node lacks it. Only little-endian machines are supported (every one that both Node 20 and
 * koffi run on is), so native byte order is little-endian throughout `kernel/`.
 * koffi is used on the main thread only: its calls from worker threads are known to crash.
 */
const libc = koffi.load('libc.so.6');

export const socket = libc.func('int socket(int domain, int type, int protocol)');
export const bind = libc.func('int bind(int fd, const void *address, uint32_t length)');
export const setsockopt = libc.func('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)');
export const sendto = libc.func(
  'long sendto(int fd, const void *bytes, size_t length, int flags, const void *address, uint32_t addressLength)',
);
export const recv = libc.func('long recv(int fd, void *bytes, size_t length, int flags)');
export const close = libc.func('int close(int fd)');
export const open = libc.func('int open(const char *path, int flags)');
export const setns = libc.func('int setns(int fd, int kind)');
export const unshare = libc.func('int unshare(int flags)');
export const listen = libc.func('int listen(int fd, int backlog)');
export const accept4 = libc.func('int accept4(int fd, void *address, void *length, int flags)');
export const connect = libc.func('int connect(int fd, const void *address, uint32_t length)');
export const send = libc.func('long send(int fd, const void *bytes, size_t length, int flags)');
export const recvmsg = libc.func('long recvmsg(int fd, void *message, int flags)');
export const sendmsg = libc.func('long sendmsg(int fd, const void *message, int flags)');
export const shutdown = libc.func('int shutdown(int fd, int how)');
export const getsockopt = libc.func('int getsockopt(int fd, int level, int name, void *value, void *length)');
export const getsockname = libc.func('int getsockname(int fd, void *address, void *length)');
export const epollCreate1 = libc.func('int epoll_create1(int flags)');
export const epollCtl = libc.func('int epoll_ctl(int epoll, int operation, int fd, const void *event)');
export const epollWait = libc.func('int epoll_wait(int epoll, void *events, int most, int milliseconds)');
export const getrlimit = libc.func('int getrlimit(int resource, void *limits)');

const names = new Map<number, string>(Object.entries(koffi.os.errno).map(([name, number]) => [number, name]));
// Numbers with two names get the one that tools print; the last two the kernel uses on netlink and no C library lists.
names.set(11, 'EAGAIN').set(35, 'EDEADLK').set(95, 'EOPNOTSUPP').set(85, 'ERESTART').set(524, 'ENOTSUPP');

export function errnoName(errno: number): string {
  return names.get(errno) ?? `errno ${errno}`;
}

/** The number of the last call's error. */
export function errno(): number {
  return koffi.errno();
}

/** Where a buffer is, for structures that point to it. It stays there as long as the buffer is kept. */
export function addressOf(buffer: Uint8Array): bigint {
  return koffi.address(buffer);
}

export function lastErrno(): string {
  return errnoName(koffi.errno());
}

/** Passes a system call's result on, or throws what errno says. */
export function check(result: number, operation: string): number {
  if (result >= 0) return result;
  throw new KernelError('KERNEL_SOCKET', { operation, errno: lastErrno() });
}

export interface Poll {
  close(): void;
}

/** Calls back whenever the descriptor is readable. It does not keep the process alive unless told. */
export function pollReadable(fd: number, onReadable: () => void, { keepsAlive = false } = {}): Poll {
  const handle = koffi.node.poll(fd, { readable: true }, onReadable);
  if (!keepsAlive) handle.unref();
  return handle;
}
