import koffi from 'koffi';
import { check } from '../../src/kernel/libc.ts';

const libc = koffi.load('libc.so.6');
const capget = libc.func('int capget(void *header, void *data)');
const capset = libc.func('int capset(void *header, const void *data)');

/** Numbers as in `linux/capability.h`. */
const NUMBERS = { CAP_NET_ADMIN: 12, CAP_SYS_ADMIN: 21, CAP_PERFMON: 38, CAP_BPF: 39 } as const;

const VERSION_3 = 0x20080522;
const DATA_BYTES = 24;
/** The capabilities 32 to 63 are in the second of two structures. */
const SECOND = 12;

/**
 * Runs synchronous work while only these capabilities of the main thread are effective. This is much cheaper than a
 * process of its own.
 */
export function withCapabilities<T>(names: readonly (keyof typeof NUMBERS)[], work: () => T): T {
  const before = Buffer.alloc(DATA_BYTES);
  check(capget(header(), before), 'read capabilities');
  const limited = Buffer.from(before);
  const mask = names.reduce((sum, name) => sum | (1n << BigInt(NUMBERS[name])), 0n);
  limited.writeUInt32LE(Number(mask & 0xffff_ffffn), 0);
  limited.writeUInt32LE(Number(mask >> 32n), SECOND);
  check(capset(header(), limited), 'limit capabilities');
  try {
    return work();
  } finally {
    check(capset(header(), before), 'restore capabilities');
  }
}

function header(): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(VERSION_3);
  return bytes;
}
