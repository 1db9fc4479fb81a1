import { bind, check, close, lastErrno, socket } from './libc.ts';
import type { NetworkNamespace } from './netns.ts';

const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC = 1 | 0o2000000;

/**
 * Held by at most one process of a network namespace, by the name of an abstract socket: such names belong to the
 * namespace, so containers that share the host's network see each other. It ends with the process.
 */
export class InstanceLock {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Undefined if another process has it. */
  static take(name: string, namespace?: NetworkNamespace): InstanceLock | undefined {
    const open = () => check(socket(AF_UNIX, SOCK_STREAM_CLOEXEC, 0), 'open a unix socket');
    const fd = namespace ? namespace.run(open) : open();
    const address = Buffer.from([AF_UNIX, 0, 0, ...Buffer.from(name)]);
    if (bind(fd, address, address.length) === 0) return new InstanceLock(fd);
    const errno = lastErrno();
    close(fd);
    if (errno === 'EADDRINUSE') return undefined;
    check(-1, `take the lock ${name}`);
    return undefined;
  }

  release(): void {
    close(this.#fd);
  }
}
