const PT_DYNAMIC = 2;
const PT_LOAD = 1;
const DT_NEEDED = 1n;
const DT_STRTAB = 5n;
const HEADER_BYTES = 64;

export interface Elf {
  /** 62 is x86-64, 183 is aarch64. */
  readonly machine: number;
  /** The names of the shared libraries that the file needs. */
  readonly needed: readonly string[];
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Reads a 64-bit little-endian ELF file. Undefined if it is something else. */
export function readElf(content: Buffer): Elf | undefined {
  if (content.length < HEADER_BYTES || content.toString('latin1', 0, 4) !== '\x7fELF') return undefined;
  const segments = readSegments(content);
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  const machine = content.readUInt16LE(18);
  if (!dynamic) return { machine, needed: [] };
  const entries = Array.from({ length: dynamic.size / 16 }, (_, i) => ({
    tag: content.readBigUInt64LE(dynamic.offset + i * 16),
    value: Number(content.readBigUInt64LE(dynamic.offset + i * 16 + 8)),
  }));
  const table = entries.find(({ tag }) => tag === DT_STRTAB)?.value ?? 0;
  const load = segments.find(
    ({ type, address, size }) => type === PT_LOAD && address <= table && table < address + size,
  );
  const start = table - (load?.address ?? 0) + (load?.offset ?? 0);
  const text = (at: number) => content.toString('latin1', at, content.indexOf(0, at));
  return { machine, needed: entries.filter(({ tag }) => tag === DT_NEEDED).map(({ value }) => text(start + value)) };
}

function readSegments(content: Buffer): readonly Segment[] {
  const offset = Number(content.readBigUInt64LE(32));
  const size = content.readUInt16LE(54);
  return Array.from({ length: content.readUInt16LE(56) }, (_, i) => {
    const at = offset + i * size;
    return {
      type: content.readUInt32LE(at),
      offset: Number(content.readBigUInt64LE(at + 8)),
      address: Number(content.readBigUInt64LE(at + 16)),
      size: Number(content.readBigUInt64LE(at + 32)),
    };
  });
}
