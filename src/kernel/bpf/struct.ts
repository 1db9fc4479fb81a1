/** The size of a number in bytes. */
export type Size = 1 | 2 | 4 | 8;

export const u8 = 1;
export const u16 = 2;
export const u32 = 4;
export const u64 = 8;

/** A number in a structure, or an array of numbers. */
export interface Field {
  readonly name: string;
  readonly offset: number;
  readonly size: Size;
  /** How many numbers the field has. */
  readonly count: number;
}

/** The fields of a structure by name, in their order. */
export type Struct<Name extends string = string> = Readonly<Record<Name, Field>>;

/** Lays fields out as C does: `struct({ address: u32, port: u16, rest: [u8, 2] })`. */
export function struct<Name extends string>(
  spec: Readonly<Record<Name, Size | readonly [Size, number]>>,
): Struct<Name> {
  const fields: Partial<Record<Name, Field>> = {};
  let end = 0;
  for (const name of Object.keys(spec) as Name[]) {
    const type = spec[name];
    const [size, count] = typeof type === 'number' ? [type, 1] : type;
    const offset = align(end, size);
    fields[name] = { name, offset, size, count };
    end = offset + size * count;
  }
  return fields as Struct<Name>;
}

/** How many bytes a structure has, with the padding at its end. */
export function bytesOf(type: Struct): number {
  const fields = Object.values(type);
  const end = Math.max(0, ...fields.map(({ offset, size, count }) => offset + size * count));
  return align(end, Math.max(1, ...fields.map(({ size }) => size)));
}

/** One number of an array. */
export function item(field: Field, index: number): Field {
  return { name: `${field.name}[${index}]`, offset: field.offset + index * field.size, size: field.size, count: 1 };
}

function align(offset: number, size: number): number {
  return Math.ceil(offset / size) * size;
}
