import { readlinkSync } from 'node:fs';
import { check, close, getsockopt, open, setns, socket, unshare } from './libc.ts';

const CLONE_NEWNET = 0x40000000;
const O_RDONLY_CLOEXEC = 0o2000000;

const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;
const SOL_SOCKET = 1;
/** Since Linux 5.14. */
const SO_NETNS_COOKIE = 71;

/** What the kernel calls the network namespace of this process: `net:[4026531840]`. Undefined if /proc does not show it. */
export function networkNamespaceName(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/net');
  } catch {
    return undefined;
  }
}

/**
 * A network namespace, held open by a descriptor. A namespace that `create` made has no name. The kernel removes it
 * with its last user, so a process that is killed leaves nothing behind.
 */
export class NetworkNamespace {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  static open(path: string): NetworkNamespace {
    return new NetworkNamespace(check(open(path, O_RDONLY_CLOEXEC), `open network namespace ${path}`));
  }

  /** The namespace of the calling thread. */
  static current(): NetworkNamespace {
    return NetworkNamespace.open('/proc/thread-self/ns/net');
  }

  static create(): NetworkNamespace {
    const home = NetworkNamespace.current();
    try {
      check(unshare(CLONE_NEWNET), 'create a network namespace');
      const created = NetworkNamespace.current();
      home.#enter();
      return created;
    } finally {
      home.close();
    }
  }

  /**
   * Runs `work` with this thread inside the namespace. Sockets that it opens and processes that it starts belong to the
   * namespace for as long as they exist. `work` must be synchronous, because after its first `await` the thread would
   * be back in its own namespace.
   */
  run<T>(work: () => T): T {
    const home = NetworkNamespace.current();
    try {
      this.#enter();
      const result = work();
      if (result instanceof Promise) throw new TypeError('work in a network namespace must be synchronous');
      return result;
    } finally {
      home.#enter();
      home.close();
    }
  }

  /** A path through which other programs can enter the namespace. It is valid as long as this process runs. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.#fd}`;
  }

  close(): void {
    close(this.#fd);
  }

  #enter(): void {
    check(setns(this.#fd, CLONE_NEWNET), 'enter a network namespace');
  }
}

/**
 * The number that the kernel gives to a network namespace. No other namespace gets it until the machine starts again.
 * The default is the namespace of the calling thread.
 */
export function namespaceCookie(namespace?: NetworkNamespace): bigint {
  const openSocket = () => socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
  const operation = 'read the cookie of a network namespace';
  const fd = check(namespace ? namespace.run(openSocket) : openSocket(), operation);
  try {
    const [cookie, length] = [Buffer.alloc(8), Buffer.alloc(4)];
    length.writeUInt32LE(cookie.length);
    check(getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, length), operation);
    return cookie.readBigUInt64LE();
  } finally {
    close(fd);
  }
}
