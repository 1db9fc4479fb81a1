/** Converts between the names and the numbers of a kernel enumeration. */
export interface Names<N extends string> {
  number(name: N): number;
  /** Returns undefined for a number without a name. */
  name(number: number | undefined): N | undefined;
}

export function names<const T extends Readonly<Record<string, number>>>(numbers: T): Names<keyof T & string> {
  const byNumber = new Map<number, keyof T & string>();
  for (const name in numbers) {
    const number = numbers[name];
    if (number !== undefined) byNumber.set(number, name);
  }
  return {
    number: name => numbers[name] ?? 0,
    name: number => (number === undefined ? undefined : byNumber.get(number)),
  };
}

/** Converts between the names and the bits of a flags field. The names are in the order of the bits. */
export interface FlagNames<N extends string> {
  bits(flags: readonly N[] | undefined): number;
  /** Returns undefined if a bit without a name is set. */
  flags(bits: number): N[] | undefined;
}

export function flagNames<const T extends Readonly<Record<string, number>>>(numbers: T): FlagNames<keyof T & string> {
  const all = Object.keys(numbers) as (keyof T & string)[];
  const known = all.reduce((bits, name) => bits | (numbers[name] ?? 0), 0);
  return {
    bits: flags => (flags ?? []).reduce((bits, name) => bits | (numbers[name] ?? 0), 0),
    flags: bits => ((bits & ~known) !== 0 ? undefined : all.filter(name => bits & (numbers[name] ?? 0))),
  };
}

/** Removes fields that are undefined, so that a decoded expression equals one that was made without these fields. */
export function withoutUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const found = { ...fields };
  for (const name in found) if (found[name] === undefined) delete found[name];
  return found as { [K in keyof T]?: Exclude<T[K], undefined> };
}
