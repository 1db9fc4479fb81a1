import { randomUUID } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { bind, check, close, lastErrnoName, socket } from './libc.ts';
import type { NetworkNamespace } from './netns.ts';
import { findByDescriptor, type RunningProcess } from './processes.ts';
import { type AbstractSocket, listAbstractSockets } from './unix-sockets.ts';

const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC = 1 | 0o2000000;
const ROOT = 0;

type ListSockets = typeof listAbstractSockets;

/** The socket of the process that holds the lock. */
export interface LockHolder {
  /** Undefined if the kernel does not list the socket. */
  readonly inode: number | undefined;
}

export type LockAttempt =
  | { readonly lock: InstanceLock; readonly holder?: undefined }
  | { readonly lock?: undefined; readonly holder: LockHolder };

/**
 * A lock that at most one process of a network namespace holds. A process holds it with an abstract unix socket: its
 * name is the name of the lock, or begins with it. Such names belong to the network namespace, so containers that share
 * the host's network see each other's locks. The kernel releases the lock when the process ends.
 *
 * Any user can bind such a name. So only sockets count that root or our own user opened, and a process takes another
 * name if a foreign user has the first one. See docs/decisions/023-a-foreign-user-cannot-hold-the-lock.md.
 */
export class InstanceLock {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  static take(name: string, namespace?: NetworkNamespace, list: ListSockets = listAbstractSockets): LockAttempt {
    const sockets = list(namespace);
    const holder = sockets?.find(found => counts(name, found));
    if (holder) return { holder };
    const first = InstanceLock.#bind(name, namespace);
    // A kernel that lists no sockets does not show which user has the name. Then every user counts.
    if (!sockets) return first ? { lock: first } : { holder: { inode: undefined } };
    const lock = first ?? InstanceLock.#bind(`${name}/${randomUUID()}`, namespace);
    if (!lock) return { holder: { inode: undefined } };
    const rival = findRival(name, lock, first === undefined, list(namespace) ?? []);
    if (!rival) return { lock };
    lock.release();
    return { holder: rival };
  }

  get inode(): number {
    return fstatSync(this.#fd).ino;
  }

  release(): void {
    close(this.#fd);
  }

  /** Returns undefined if another socket has the name. */
  static #bind(name: string, namespace: NetworkNamespace | undefined): InstanceLock | undefined {
    const open = () => check(socket(AF_UNIX, SOCK_STREAM_CLOEXEC, 0), 'open a unix socket');
    const fd = namespace ? namespace.run(open) : open();
    const address = Buffer.from([AF_UNIX, 0, 0, ...Buffer.from(name)]);
    if (bind(fd, address, address.length) === 0) return new InstanceLock(fd);
    const errno = lastErrnoName();
    close(fd);
    if (errno === 'EADDRINUSE') return undefined;
    check(-1, `take the lock ${name}`);
    return undefined;
  }
}

/** The process with the socket of the holder, or undefined if our /proc does not show it. */
export function findHolderProcess({ inode }: LockHolder): RunningProcess | undefined {
  return inode === undefined ? undefined : findByDescriptor(`socket:[${inode}]`);
}

function counts(name: string, { name: found, uid }: AbstractSocket): boolean {
  if (found !== name && !found.startsWith(`${name}/`)) return false;
  return uid === undefined || uid === ROOT || uid === process.geteuid?.();
}

/**
 * Each process binds its name before it looks for others. So of two that try at the same time, at least one sees the
 * other and gives way. `isNameTaken`: a foreign user had the name, so the list must show that user's socket. A list
 * without it is not complete.
 */
function findRival(
  name: string,
  { inode }: InstanceLock,
  isNameTaken: boolean,
  sockets: readonly AbstractSocket[],
): LockHolder | undefined {
  const rival = sockets.find(found => found.inode !== inode && counts(name, found));
  if (rival) return rival;
  return isNameTaken && !sockets.some(found => found.name === name) ? { inode: undefined } : undefined;
}
