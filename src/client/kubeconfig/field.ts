import { dirname, resolve } from 'node:path';
import { isRecord } from '../../lib/is-record.ts';
import { ApiError } from '../api-error.ts';
import type { Pem } from '../client-config.ts';

/** A value of a kubeconfig, with the file and the path that messages name. */
export interface Field {
  readonly file: string;
  /** `users[1].user.exec`; empty for the whole document. */
  readonly path: string;
  readonly value: unknown;
}

export function fail(field: Field, problem: string): never {
  const where = field.path === '' ? '' : `${field.path}: `;
  throw new ApiError('configuration', `kubeconfig ${field.file}: ${where}${problem}`);
}

/** A field of an object. A field that is absent or null has the value undefined. */
export function child(parent: Field, name: string): Field {
  const value = isRecord(parent.value) && Object.hasOwn(parent.value, name) ? parent.value[name] : undefined;
  return { file: parent.file, path: parent.path === '' ? name : `${parent.path}.${name}`, value: value ?? undefined };
}

export function object(field: Field): Field {
  if (field.value !== undefined && !isRecord(field.value)) fail(field, 'must be an object');
  return field;
}

/** In a kubeconfig an absent string means the same as an empty one. */
export function text(parent: Field, name: string): string {
  const field = child(parent, name);
  if (field.value === undefined) return '';
  if (typeof field.value === 'string') return field.value;
  return fail(field, typeof field.value === 'object' ? 'must be a string' : 'must be a string: write it in quotes');
}

export function bool(parent: Field, name: string): boolean {
  const field = child(parent, name);
  if (field.value === undefined) return false;
  return typeof field.value === 'boolean' ? field.value : fail(field, 'must be true or false');
}

export function list(parent: Field, name: string): Field[] {
  const field = child(parent, name);
  if (field.value === undefined) return [];
  if (!Array.isArray(field.value)) return fail(field, 'must be a list');
  return field.value.map((value: unknown, index) => ({ file: field.file, path: `${field.path}[${index}]`, value }));
}

export function texts(parent: Field, name: string): string[] {
  return list(parent, name).map(field =>
    typeof field.value === 'string' ? field.value : fail(field, 'must be a string: write it in quotes'),
  );
}

/** The text that is encoded in base64; undefined if the field is absent or empty. */
export function base64Text(parent: Field, name: string): string | undefined {
  const encoded = text(parent, name).replaceAll(/\s/g, '');
  if (encoded === '') return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0) {
    return fail(child(parent, name), 'must be base64');
  }
  return Buffer.from(encoded, 'base64').toString('utf8');
}

/** A certificate or key. It is in `NAME-data`, or in the file that `NAME` names. */
export function pem(parent: Field, name: string): Pem | undefined {
  const data = base64Text(parent, `${name}-data`);
  const path = text(parent, name);
  if (data !== undefined && path !== '') fail(child(parent, name), `and ${name}-data are both set: remove one`);
  if (data !== undefined) return { kind: 'data', pem: data, field: `${name}-data` };
  return path === '' ? undefined : { kind: 'file', path: besideFile(parent.file, path), field: name };
}

/** A relative path in a kubeconfig starts at the folder of the kubeconfig. */
export function besideFile(file: string, path: string): string {
  return resolve(dirname(file), path);
}

/** The entry with this name in a list such as `clusters` or `users`; undefined if there is none. */
export function named(root: Field, listName: string, name: string): Field | undefined {
  const found = list(root, listName).filter(entry => text(object(entry), 'name') === name);
  if (found[1]) fail(found[1], `two entries have the name ${JSON.stringify(name)}: remove one`);
  return found[0];
}

/** The names in a list, for a message about a name that is not there: `clusters has a, b`. */
export function presentNames(root: Field, listName: string): string {
  const names = list(root, listName).map(entry => text(object(entry), 'name'));
  return names.length === 0 ? `${listName} is empty` : `${listName} has ${names.join(', ')}`;
}
