import { addressOf, check, close, syscall } from '../../src/kernel/libc.ts';

/** Calls that have the same numbers on all processors. */
const [FSOPEN, FSCONFIG, FSMOUNT] = [430, 431, 432];
const FSCONFIG_CMD_CREATE = 6n;

export interface DetachedBpffs {
  /** A folder of a file system for BPF objects. */
  readonly path: string;
  close(): void;
}

/**
 * A bpffs of this process, for tests that pin objects. It is mounted nowhere, and is reached through its descriptor. So
 * it is not seen outside, and it ends with the process.
 */
export function openDetachedBpffs(): DetachedBpffs {
  const call = (number: number, a: unknown, b: unknown, what: string) =>
    check(Number(syscall(number, a, b, 0, 0, 0)), `${what} a bpffs`);
  const name = Buffer.from('bpf\0');
  const context = call(FSOPEN, addressOf(name), null, 'open');
  try {
    call(FSCONFIG, context, FSCONFIG_CMD_CREATE, 'create');
    const fd = call(FSMOUNT, context, null, 'mount');
    return { path: `/proc/self/fd/${fd}`, close: () => close(fd) };
  } finally {
    close(context);
  }
}
