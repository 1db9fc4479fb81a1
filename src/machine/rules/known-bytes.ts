import type { CmpOp } from '../../kernel/nftables/index.ts';

/** Whether a match is true for the packet. Some things are not known of the packet. */
export type Answer = 'yes' | 'no' | 'unknown';

/** Bytes of which some bits are known. */
export interface KnownBytes {
  readonly bytes: Buffer;
  /** A set bit means that this bit of `bytes` is known. */
  readonly known: Buffer;
  /** What would have to be known: `source port`. */
  readonly unknown: readonly string[];
}

export function knownBytes(bytes: Buffer): KnownBytes {
  return { bytes, known: Buffer.alloc(bytes.length, 0xff), unknown: [] };
}

export function unknownBytes(length: number, reason: string): KnownBytes {
  return { bytes: Buffer.alloc(length), known: Buffer.alloc(length), unknown: [reason] };
}

/** A number in the machine's byte order. */
export function knownNumber(value: number, length: 1 | 2 | 4 = 4): KnownBytes {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntLE(value, 0, length);
  return knownBytes(bytes);
}

export function isKnown({ known }: KnownBytes): boolean {
  return known.every(byte => byte === 0xff);
}

/** `(value & mask) ^ xor`. A bit that the mask clears is known. */
export function maskBytes(value: KnownBytes, mask: Buffer, xor: Buffer): KnownBytes {
  const bytes = Buffer.from(mask.map((bits, i) => ((value.bytes[i] ?? 0) & bits) ^ (xor[i] ?? 0)));
  const known = Buffer.from(mask.map((bits, i) => (value.known[i] ?? 0) | (~bits & 0xff)));
  return { bytes, known, unknown: value.unknown };
}

/** Compares the first bytes of the value with the data. */
export function compareBytes(op: CmpOp, value: KnownBytes, data: Buffer): Answer {
  if (op === 'eq' || op === 'neq') {
    const equal = equals(value, data);
    return op === 'eq' ? equal : invert(equal);
  }
  const head = headOf(value, data.length);
  if (!isKnown(head)) return 'unknown';
  const order = Buffer.compare(head.bytes, data);
  switch (op) {
    case 'lt':
      return answer(order < 0);
    case 'lte':
      return answer(order <= 0);
    case 'gt':
      return answer(order > 0);
    case 'gte':
      return answer(order >= 0);
  }
}

export function isInRange(value: KnownBytes, from: Buffer, to: Buffer): Answer {
  if (from.equals(to)) return equals(value, from);
  return all([compareBytes('gte', value, from), compareBytes('lte', value, to)]);
}

/** The bytes from `start` on. */
export function sliceBytes(value: KnownBytes, start: number, length: number): KnownBytes {
  const { bytes, known, unknown } = value;
  return { bytes: bytes.subarray(start, start + length), known: known.subarray(start, start + length), unknown };
}

function headOf(value: KnownBytes, length: number): KnownBytes {
  return sliceBytes(value, 0, length);
}

function equals({ bytes, known }: KnownBytes, data: Buffer): Answer {
  let result: Answer = 'yes';
  for (let i = 0; i < data.length; i++) {
    const bits = known[i] ?? 0;
    if (((bytes[i] ?? 0) ^ (data[i] ?? 0)) & bits) return 'no';
    if (bits !== 0xff) result = 'unknown';
  }
  return result;
}

export function answer(isTrue: boolean): Answer {
  return isTrue ? 'yes' : 'no';
}

export function invert(value: Answer): Answer {
  if (value === 'unknown') return value;
  return value === 'yes' ? 'no' : 'yes';
}

export function all(answers: readonly Answer[]): Answer {
  if (answers.includes('no')) return 'no';
  return answers.includes('unknown') ? 'unknown' : 'yes';
}

export function any(answers: readonly Answer[]): Answer {
  if (answers.includes('yes')) return 'yes';
  return answers.includes('unknown') ? 'unknown' : 'no';
}
