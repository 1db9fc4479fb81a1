import koffi from 'koffi';
import { KernelError } from './errors.ts';

/**
 * The functions of the C library that Node does not offer. Every machine that both Node 20 and koffi support is
 * little-endian, so native byte order means little-endian throughout `kernel/`.
 * Only the main thread uses koffi, because koffi calls from worker threads are known to crash.
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
export const epollWait = libc.func('int epoll_wait(int epoll, void *events, int max, int milliseconds)');
export const syscall = libc.func('long syscall(long number, long a, void *b, long c, long d, long e)');
export const getrlimit = libc.func('int getrlimit(int resource, void *limits)');

export const mallocTrim = libc.func('int malloc_trim(size_t kept)');
export const madvise = libc.func('int madvise(uint64_t address, size_t length, int advice)');

const mmap = libc.func('void *mmap(void *address, size_t length, int protection, int flags, int fd, long offset)');
const sigprocmask = libc.func('int sigprocmask(int how, const void *set, void *former)');
const munmap = libc.func('int munmap(void *address, size_t length)');
const statfs = libc.func('int statfs(const char *path, void *result)');

const errnoNames = new Map<number, string>(Object.entries(koffi.os.errno).map(([name, number]) => [number, name]));
// Some numbers have two names. These are the names that tools print.
errnoNames.set(11, 'EAGAIN').set(35, 'EDEADLK').set(95, 'EOPNOTSUPP');
// The kernel uses these two on netlink, but C libraries do not list them.
errnoNames.set(85, 'ERESTART').set(524, 'ENOTSUPP');

export function errnoName(errno: number): string {
  return errnoNames.get(errno) ?? `errno ${errno}`;
}

/** The error number of the last call. */
export function lastErrno(): number {
  return koffi.errno();
}

/** The address of a buffer, for structures that point to it. It is valid as long as the caller keeps the buffer. */
export function addressOf(buffer: Uint8Array): bigint {
  return koffi.address(buffer);
}

const SIG_SETMASK = 2;
/** The size of `sigset_t`. */
const SIGNAL_SET_BYTES = 128;
const ALL_SIGNALS = Buffer.alloc(SIGNAL_SET_BYTES, 0xff);

/** Runs synchronous work. Signals for this thread wait until it is done, so that they interrupt no system call. */
export function withoutSignals<T>(work: () => T): T {
  const former = Buffer.alloc(SIGNAL_SET_BYTES);
  check(sigprocmask(SIG_SETMASK, ALL_SIGNALS, former), 'block signals');
  try {
    return work();
  } finally {
    sigprocmask(SIG_SETMASK, former, null);
  }
}

const PROT_READ_WRITE = 3;
const MAP_SHARED = 1;
const PAGE_BYTES = 4096;

/**
 * Memory that this process shares with the kernel. It stays valid after the descriptor is closed. After `unmap`, an
 * access to `bytes` ends the process, so only the owner of the memory may keep them.
 */
export interface MappedMemory {
  readonly bytes: ArrayBuffer;
  readonly unmap: () => void;
}

/** Maps the memory that a descriptor stands for. The length is rounded up to whole pages. */
export function mapMemory(fd: number, length: number, operation: string): MappedMemory {
  const whole = Math.ceil(length / PAGE_BYTES) * PAGE_BYTES;
  const pointer: unknown = mmap(null, whole, PROT_READ_WRITE, MAP_SHARED, fd, 0);
  if (koffi.address(pointer) === 0xffff_ffff_ffff_ffffn) check(-1, operation);
  return { bytes: koffi.view(pointer, whole), unmap: () => check(munmap(pointer, whole), operation) };
}

/** The type of the file system at a path, as in `linux/magic.h`. Undefined if there is no such path. */
export function fileSystemType(path: string): number | undefined {
  const result = Buffer.alloc(256);
  return statfs(path, result) === 0 ? result.readUInt32LE(0) : undefined;
}

/** The name of the last call's error: `EEXIST`. */
export function lastErrnoName(): string {
  return errnoName(koffi.errno());
}

/** Returns the result of a system call. Throws a KernelError with the errno if the call failed. */
export function check(result: number, operation: string): number {
  if (result >= 0) return result;
  throw new KernelError('KERNEL_SOCKET', { operation, errno: lastErrnoName() });
}

export interface Poll {
  close(): void;
}

/** Calls `onReadable` whenever the descriptor is readable. By default the poll does not keep the process alive. */
export function pollReadable(fd: number, onReadable: () => void, { keepsAlive = false } = {}): Poll {
  const options = { readable: true };
  // koffi calls this with libuv's status, whatever its types say.
  const onEvent = (status: unknown) => {
    // libuv stops a poll whose descriptor has an error. An overrun of a netlink socket is one, and ends when it is read.
    if (typeof status === 'number' && status < 0) handle.start(options, onEvent);
    onReadable();
  };
  const handle = koffi.node.poll(fd, options, onEvent);
  if (!keepsAlive) handle.unref();
  return handle;
}
