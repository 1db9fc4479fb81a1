import { check, close, open, setns, unshare } from './libc.ts';

const CLONE_NEWNET = 0x40000000;
const O_RDONLY_CLOEXEC = 0o2000000;

/**
 * A network namespace held by a descriptor. One made by `create` has no name and ends with its last user, so nothing
 * stays behind when a process dies.
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
   * Runs `work` with this thread inside the namespace. Sockets opened and processes started meanwhile belong to it for
   * good. The work must be synchronous: after the first `await` the thread is back home.
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

  /** A path by which other programs can enter the namespace while this process lives. */
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
