import { KernelError } from '../errors.ts';
import { addressOf, errnoName, lastErrno, syscall } from '../libc.ts';

/** The number of the system call bpf, by processor. */
const BPF_CALL: Readonly<Partial<Record<string, number>>> = { x64: 321, arm64: 280 };

/** Commands as in `linux/bpf.h`. */
export const Command = {
  MAP_CREATE: 0,
  MAP_LOOKUP_ELEM: 1,
  MAP_UPDATE_ELEM: 2,
  MAP_DELETE_ELEM: 3,
  MAP_GET_NEXT_KEY: 4,
  PROG_LOAD: 5,
  OBJ_PIN: 6,
  OBJ_GET: 7,
  PROG_ATTACH: 8,
  PROG_DETACH: 9,
  PROG_GET_FD_BY_ID: 13,
  MAP_GET_FD_BY_ID: 14,
  OBJ_GET_INFO_BY_FD: 15,
  PROG_QUERY: 16,
  BTF_LOAD: 18,
  MAP_LOOKUP_BATCH: 24,
  MAP_UPDATE_BATCH: 26,
  MAP_DELETE_BATCH: 27,
  LINK_CREATE: 28,
  LINK_UPDATE: 29,
  ENABLE_STATS: 32,
  ITER_CREATE: 33,
  LINK_DETACH: 34,
} as const;

export type CommandName = keyof typeof Command;

/** The bytes of `union bpf_attr` for one command. */
export class Attributes {
  readonly bytes: Buffer;
  /** The kernel reads these while the call runs. */
  readonly #kept: Uint8Array[] = [];

  constructor(length: number) {
    this.bytes = Buffer.alloc(length);
  }

  u32(offset: number, value: number): this {
    this.bytes.writeUInt32LE(value >>> 0, offset);
    return this;
  }

  u64(offset: number, value: bigint): this {
    this.bytes.writeBigUInt64LE(value, offset);
    return this;
  }

  pointer(offset: number, buffer: Uint8Array | undefined): this {
    if (!buffer || buffer.length === 0) return this;
    this.#kept.push(buffer);
    return this.u64(offset, addressOf(buffer));
  }

  /** A text of at most 15 bytes. */
  name(offset: number, text: string): this {
    this.bytes.write(text.slice(0, 15), offset, 'latin1');
    return this;
  }
}

/** Returns what the kernel returns: a descriptor, or 0. Throws a KernelError. */
export function bpf(command: CommandName, what: string, attributes: Attributes): number {
  const result = tryBpf(command, attributes);
  if (typeof result === 'number') return result;
  throw bpfError(command, what, result.errno);
}

/** As `bpf`, for callers that expect some errors. */
export function tryBpf(command: CommandName, { bytes }: Attributes): number | { readonly errno: string } {
  const number = BPF_CALL[process.arch];
  if (number === undefined) return { errno: 'ENOSYS' };
  const result = Number(syscall(number, Command[command], bytes, bytes.length, 0, 0));
  return result >= 0 ? result : { errno: errnoName(lastErrno()) };
}

export function bpfError(command: CommandName, what: string, errno: string, kernelMessage?: string): KernelError {
  return new KernelError('KERNEL_REFUSED', { operation: `bpf ${command} ${what}`, errno, kernelMessage });
}
