import { addressOf, check, syscall } from '../../src/kernel/libc.ts';

/** Capabilities by their numbers in `linux/capability.h`. */
const CAPABILITIES = { CAP_NET_ADMIN: 12n, CAP_SYS_ADMIN: 21n, CAP_PERFMON: 38n, CAP_BPF: 39n } as const;

/** The numbers of the system calls capget and capset, by processor. */
const CALLS: Readonly<Partial<Record<string, readonly [get: number, set: number]>>> = {
  x64: [125, 126],
  arm64: [90, 91],
};
/** `_LINUX_CAPABILITY_VERSION_3`, and 0 for the calling thread. */
const HEADER = Buffer.from('2205082000000000', 'hex');
/** Effective, permitted and inheritable capabilities: first their lower halves, then their upper halves. */
const BYTES = 24;
const UPPER_HALF = 12;

/**
 * Runs synchronous work with no capabilities but these, and takes the others back. Other threads keep theirs. It is
 * much cheaper than a process of its own.
 */
export function withCapabilities<T>(names: readonly (keyof typeof CAPABILITIES)[], work: () => T): T {
  const [get, set] = CALLS[process.arch] ?? [];
  if (get === undefined) throw new Error(`the numbers of capget and capset on ${process.arch} are not known`);
  const call = (number: number | undefined, data: Buffer) =>
    check(Number(syscall(number, addressOf(HEADER), data, 0, 0, 0)), 'change capabilities');
  const own = Buffer.alloc(BYTES);
  call(get, own);
  const mask = names.reduce((sum, name) => sum | (1n << CAPABILITIES[name]), 0n);
  const reduced = Buffer.from(own);
  reduced.writeUInt32LE(Number(mask & 0xffff_ffffn), 0);
  reduced.writeUInt32LE(Number(mask >> 32n), UPPER_HALF);
  call(set, reduced);
  try {
    return work();
  } finally {
    call(set, own);
  }
}
