import { components, type DataType, printData, printValue } from './datatype.ts';

/** Prints a range from its first to its last key, each component separately: `10.0.0.0/8 . 80-90`. */
export function printRange(types: readonly DataType[], first: Buffer, last: Buffer): string {
  const starts = components(types, first);
  const ends = components(types, last);
  if (!starts || !ends) return `${printData(types, first)}-${printData(types, last)}`;
  return starts.map((start, i) => printPart(types[i] ?? 'integer', start, ends[i] ?? start)).join(' . ');
}

function printPart(type: DataType, start: Buffer, end: Buffer): string {
  if (start.equals(end)) return printValue(type, start);
  const prefix = type === 'ipv4_addr' || type === 'ipv6_addr' ? prefixLength(start, end) : undefined;
  if (prefix !== undefined) return `${printValue(type, start)}/${prefix}`;
  return `${printValue(type, start)}-${printValue(type, end)}`;
}

/** Returns undefined if the range is no prefix. */
function prefixLength(start: Buffer, end: Buffer): number | undefined {
  const bits = start.length * 8;
  let prefix = 0;
  while (prefix < bits && bit(start, prefix) === bit(end, prefix)) prefix++;
  for (let i = prefix; i < bits; i++) if (bit(start, i) !== 0 || bit(end, i) !== 1) return undefined;
  return prefix;
}

function bit(bytes: Buffer, index: number): number {
  return ((bytes[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;
}
