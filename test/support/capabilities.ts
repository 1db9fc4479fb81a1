import { addressOf, check, syscall } from '../../src/kernel/libc.ts';

/** The numbers of capget and capset, by processor. */
const CALLS: Readonly<Partial<Record<string, { readonly get: number; readonly set: number }>>> = {
  x64: { get: 125, set: 126 },
  arm64: { get: 90, set: 91 },
};

const CAPABILITIES = { CAP_NET_ADMIN: 12, CAP_SYS_ADMIN: 21, CAP_PERFMON: 38, CAP_BPF: 39 } as const;
export type Capability = keyof typeof CAPABILITIES;

/** `_LINUX_CAPABILITY_VERSION_3` */
const VERSION = 0x20080522;
/** Where `struct __user_cap_data_struct` has the lower and the upper half of the effective capabilities. */
const EFFECTIVE = [0, 12] as const;
const DATA_BYTES = 24;

/**
 * Runs synchronous work while this thread has only the given capabilities. The kernel checks effective capabilities;
 * the thread keeps the permitted ones, so that it can take all back.
 */
export function withCapabilities<T>(capabilities: readonly Capability[], work: () => T): T {
  const calls = CALLS[process.arch];
  if (!calls) throw new Error(`the numbers of capget and capset on ${process.arch} are not known`);
  const all = Buffer.alloc(DATA_BYTES);
  call(calls.get, all);
  const few = Buffer.from(all);
  for (const [half, at] of EFFECTIVE.entries()) {
    const numbers = capabilities.map(name => CAPABILITIES[name]).filter(number => number >> 5 === half);
    few.writeUInt32LE(
      numbers.reduce((mask, number) => (mask | (1 << (number & 31))) >>> 0, 0),
      at,
    );
  }
  call(calls.set, few);
  try {
    return work();
  } finally {
    call(calls.set, all);
  }
}

function call(number: number, data: Buffer): void {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(VERSION);
  check(Number(syscall(number, addressOf(header), data, 0, 0, 0)), 'capabilities of the thread');
}
