import { type Ip, writeIp } from '../../net/index.ts';
import {
  ByteOrder,
  byteOrder,
  components,
  type DataType,
  type DataValue,
  dataSize,
  padded,
  readValue,
  sizeOf,
} from './datatype.ts';
import { protocolNumber } from './protocol.ts';

/** The bytes of a value or a concatenation: `dataBytes(['ipv4_addr', 'inet_proto'], ['10.0.0.1', 'tcp'])`. */
export function dataBytes(types: readonly DataType[], values: readonly DataValue[]): Buffer {
  if (types.length !== values.length) {
    throw new RangeError(`${types.join(' . ')} needs ${types.length} values, not ${values.length}`);
  }
  const { size, fields } = layoutOf(types);
  const bytes = Buffer.allocUnsafe(size).fill(0);
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i];
    const value = values[i];
    if (field === undefined || value === undefined) continue;
    if (typeof value === 'number') writeNumber(bytes, field, value);
    else writeText(bytes, field, value);
  }
  return bytes;
}

interface Field {
  readonly type: DataType;
  readonly at: number;
  readonly size: number;
  readonly bigEndian: boolean;
}

interface Layout {
  readonly size: number;
  readonly fields: readonly Field[];
}

/** The layouts are cached, because callers make hundreds of thousands of keys with the types of a few sets. */
const layouts = new WeakMap<readonly DataType[], Layout>();

function layoutOf(types: readonly DataType[]): Layout {
  const known = layouts.get(types);
  if (known) return known;
  let at = 0;
  const fields = types.map(type => {
    const field = { type, at, size: sizeOf(type), bigEndian: byteOrder([type]) === ByteOrder.BIG };
    at += padded(field.size);
    return field;
  });
  const layout = { size: dataSize(types), fields };
  layouts.set(types, layout);
  return layout;
}

/** The values in the bytes. Undefined if there are too few bytes for the types. */
export function dataValues(types: readonly DataType[], bytes: Buffer): DataValue[] | undefined {
  return components(types, bytes)?.map((part, i) => readValue(types[i] ?? 'integer', part));
}

function writeText(into: Buffer, { type, at, size }: Field, value: string): void {
  switch (type) {
    case 'ipv4_addr':
    case 'ipv6_addr':
      if (!writeAddress(into, at, size, value)) throw new RangeError(`${value} is not a valid ${type}`);
      return;
    case 'inet_proto': {
      const number = protocolNumber(value);
      if (number === undefined) throw new RangeError(`${value} is not a known protocol`);
      into[at] = number;
      return;
    }
    case 'ifname':
      if (Buffer.byteLength(value) >= size) throw new RangeError(`${value} is too long for the name of an interface`);
      into.write(value, at);
      return;
    case 'ether_addr':
      if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i.test(value)) throw new RangeError(`${value} is not a valid ${type}`);
      into.write(value.replaceAll(':', ''), at, 'hex');
      return;
    default:
      throw new RangeError(`${type} must be given as a number, not as ${value}`);
  }
}

function writeAddress(into: Buffer, at: number, size: number, value: string): boolean {
  const ip = value.includes(':') === (size === 16) ? (value as Ip) : undefined;
  return ip !== undefined && writeIp(ip, into, at) === size;
}

function writeNumber(into: Buffer, { type, at, size, bigEndian }: Field, value: number): void {
  if (size === 0 || size > 4) throw new RangeError(`${type} cannot be given as the number ${value}`);
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** (8 * size))
    throw new RangeError(`${value} is not a valid ${type}`);
  for (let i = 0; i < size; i++) into[bigEndian ? at + size - 1 - i : at + i] = value >>> (8 * i);
}
