import { alu, call, exit, type Part, set, setMap, store } from './instruction.ts';
import { type Place, type Register, r0, r1, r2, r3, r4, r10 } from './place.ts';
import { bytesOf, type Struct } from './struct.ts';

/** A structure on the stack. */
export interface Local<Name extends string = string> {
  readonly start: number;
  readonly bytes: number;
  readonly at: Readonly<Record<Name, Place>>;
}

/** Lays structures out on the stack: `frame({ key: Key }).key.at.address` is a place. */
export function frame<Layout extends Readonly<Record<string, Struct>>>(
  layout: Layout,
): { readonly [K in keyof Layout]: Local<Extract<keyof Layout[K], string>> } {
  let top = 0;
  const locals: Record<string, Local> = {};
  for (const [name, type] of Object.entries(layout)) {
    const bytes = bytesOf(type);
    top -= Math.ceil(bytes / 8) * 8;
    const start = top;
    const places = Object.entries(type).map(([field, { offset, size }]) => [
      field,
      { base: r10, offset: start + offset, size },
    ]);
    locals[name] = { start, bytes, at: Object.fromEntries(places) };
  }
  return locals as { readonly [K in keyof Layout]: Local<Extract<keyof Layout[K], string>> };
}

/** The register becomes the address of a structure on the stack. */
export function setAddress(to: Register, { start }: Local): Part {
  return [set(to, r10), alu(to, '+', start)];
}

/** r0 becomes the address of the map's value, or 0. */
export function lookup(map: string, key: Local): Part {
  return [setMap(r1, map), setAddress(r2, key), call('map_lookup_elem')];
}

export function update(map: string, key: Local, value: Local): Part {
  return [setMap(r1, map), setAddress(r2, key), setAddress(r3, value), set(r4, 0), call('map_update_elem')];
}

export function returns(value: number): Part {
  return [set(r0, value), exit()];
}

/** Makes a structure on the stack zero, with its padding. */
export function clear({ start, bytes }: Local): Part {
  return Array.from({ length: Math.ceil(bytes / 8) }, (_, i) =>
    store({ base: r10, offset: start + 8 * i, size: 8 }, 0),
  );
}
