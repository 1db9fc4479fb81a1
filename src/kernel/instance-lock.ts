import { bind, check, close, lastErrnoName, socket } from './libc.ts';
import type { NetworkNamespace } from './netns.ts';

const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC = 1 | 0o2000000;

/**
 * A lock that at most one process of a network namespace holds. It is the name of an abstract unix socket. Such names
 * belong to the network namespace, so containers that share the host's network see each other's locks. The kernel
 * releases the lock when the process ends.
 */
export class InstanceLock {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Returns undefined if another process holds the lock. */
  static take(name: string, namespace?: NetworkNamespace): InstanceLock | undefined {
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

  release(): void {
    close(this.#fd);
  }
}
