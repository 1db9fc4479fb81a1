import type { Plain } from '../../lib/document/index.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { refuse, type Type, type ValueOf } from './type.ts';

/** Undefined if the file has no value or null, so that a zero differs from a missing value. */
export function pointer<T>(target: Type<T>): Type<T | undefined> {
  return {
    name: target.name,
    zero: undefined,
    read: (node, into, at) => (node.kind === 'null' ? undefined : target.read(node, into ?? target.zero, at)),
    write: value => (value === undefined ? null : target.write(value)),
  };
}

/** Undefined is written as `null`, and an empty list as `[]`. */
export function list<T>(item: Type<T>, name = `[]${item.name}`): Type<readonly T[] | undefined> {
  return {
    name,
    zero: undefined,
    read(node, into, at) {
      if (node.kind === 'null') return undefined;
      if (node.kind !== 'array') return refuse(node, name, into, at);
      return node.items.map((each, index) =>
        item.read(each, into?.[index] ?? item.zero, { ...at, path: `${at.path}[${index}]` }),
      );
    },
    write: values => values?.map(value => item.write(value) ?? null) ?? null,
  };
}

export function mapOf<T>(item: Type<T>): Type<ReadonlyMap<string, T> | undefined> {
  const name = `map[string]${item.name}`;
  return {
    name,
    zero: undefined,
    read(node, into, at) {
      if (node.kind === 'null') return undefined;
      if (node.kind !== 'object') return refuse(node, name, into, at);
      const seen = new Set<string>();
      const values = new Map(into);
      for (const { key, value } of node.members) {
        const path = join(at.path, key);
        if (seen.has(key)) at.findings.addStrict(`duplicate field ${goQuote(path)}`);
        seen.add(key);
        values.set(key, item.read(value, item.zero, { ...at, path }));
      }
      return values;
    },
    write(values) {
      if (values === undefined) return null;
      const keys = [...values.keys()].sort();
      const written = keys.map(key => [key, item.write(values.get(key) ?? item.zero) ?? null] as const);
      return Object.fromEntries(written);
    },
  };
}

/** A field that is not written if it is empty. */
export function omitEmpty<T>(target: Type<T>): Type<T> {
  return {
    ...target,
    write(value) {
      const written = target.write(value);
      const isEmpty = typeof written === 'object' && written !== null && Object.keys(written).length === 0;
      return written && !isEmpty ? written : undefined;
    },
  };
}

type Fields = Readonly<Record<string, Type<unknown>>>;
type ValuesOf<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

/**
 * A struct. `name` is its Go name, with its package before a dot. Field names are case-sensitive. Unknown and repeated
 * fields are strict findings. If Go embeds the fields in another struct, `embedded` is the name of that struct, which
 * messages contain.
 */
export function struct<F extends Fields>(name: string, fields: F, embedded?: string): Type<ValuesOf<F>> {
  const types = new Map<string, Type<unknown>>(Object.entries(fields));
  const zero = Object.fromEntries(Object.entries(fields).map(([key, type]) => [key, type.zero])) as ValuesOf<F>;
  const shortName = name.slice(name.lastIndexOf('.') + 1);
  return {
    name,
    zero,
    read(node, into, at) {
      if (node.kind !== 'object') return refuse(node, name, into, at);
      const seen = new Set<string>();
      const values: Record<string, unknown> = { ...into };
      for (const { key, value } of node.members) {
        const path = join(at.path, key);
        const type = types.get(key);
        if (!type) {
          at.findings.addStrict(`unknown field ${goQuote(path)}`);
          continue;
        }
        if (seen.has(key)) at.findings.addStrict(`duplicate field ${goQuote(path)}`);
        seen.add(key);
        const steps = embedded === undefined ? [key] : [embedded, key];
        values[key] = type.read(value, values[key], {
          ...at,
          struct: shortName,
          fields: [...at.fields, ...steps],
          path,
        });
      }
      return values as ValuesOf<F>;
    },
    write(values) {
      const written = [...types].map(([key, type]) => [key, type.write(values[key])] as const);
      return Object.fromEntries(written.filter((entry): entry is [string, Plain] => entry[1] !== undefined));
    },
  };
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
