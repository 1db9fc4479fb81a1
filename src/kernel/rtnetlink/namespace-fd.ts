import { check, close, open } from '../libc.ts';

const O_RDONLY_CLOEXEC = 0o2000000;

/** Names a network namespace by its path: a NetworkNamespace, or `{ path: '/run/netns/a' }`. */
export interface NamespaceRef {
  readonly path: string;
}

/** Runs `work` with a descriptor of the namespace. A netlink message names a namespace by its descriptor. */
export function withNamespaceFd(namespace: NamespaceRef | undefined, work: (fd: number | undefined) => void): void {
  const operation = `open network namespace ${namespace?.path}`;
  const fd = namespace && check(open(namespace.path, O_RDONLY_CLOEXEC), operation);
  try {
    work(fd);
  } finally {
    if (fd !== undefined) close(fd);
  }
}
