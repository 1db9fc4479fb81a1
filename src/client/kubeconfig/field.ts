import { dirname, resolve } from 'node:path';
import { ApiError } from '../api-error.ts';
import type { Pem } from '../client-config.ts';

/** A value of a kubeconfig and where it stands, so that a message can name it. */
export interface Field {
  readonly file: string;
  /** `users[1].user.exec`. */
  readonly path: string;
  readonly value: unknown;
}

export function fail(field: Field, problem: string): never {
  const where = field.path === '' ? '' : `${field.path}: `;
  throw new ApiError('configuration', `kubeconfig ${field.file}: ${where}${problem}`);
}

/** A field of an object; absent ones have the value undefined. */
export function child(parent: Field, name: string): Field {
  const value = isObject(parent.value) && Object.hasOwn(parent.value, name) ? parent.value[name] : undefined;
  return { file: parent.file, path: parent.path === '' ? name : `${parent.path}.${name}`, value: value ?? undefined };
}

export function object(field: Field): Field {
  if (field.value !== undefined && !isObject(field.value)) fail(field, 'must be an object');
  return field;
}

/** An empty text and none mean the same, as everywhere in a kubeconfig. */
export function text(parent: Field, name: string): string {
  const field = child(parent, name);
  if (field.value === undefined) return '';
  if (typeof field.value === 'string') return field.value;
  return fail(field, typeof field.value === 'object' ? 'must be a text' : 'must be a text: write it in quotes');
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
    typeof field.value === 'string' ? field.value : fail(field, 'must be a text: write it in quotes'),
  );
}

/** What base64 stands for, or undefined without a text. */
export function base64Text(parent: Field, name: string): string | undefined {
  const encoded = text(parent, name).replaceAll(/\s/g, '');
  if (encoded === '') return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0) {
    return fail(child(parent, name), 'must be base64');
  }
  return Buffer.from(encoded, 'base64').toString('utf8');
}

/** A certificate or key, from `NAME-data` or from the file that `NAME` names. */
export function pem(parent: Field, name: string): Pem | undefined {
  const data = base64Text(parent, `${name}-data`);
  const path = text(parent, name);
  if (data !== undefined && path !== '') fail(child(parent, name), `and ${name}-data are both there: take one away`);
  if (data !== undefined) return { kind: 'data', pem: data, field: `${name}-data` };
  return path === '' ? undefined : { kind: 'file', path: besideFile(parent.file, path), field: name };
}

export function besideFile(file: string, path: string): string {
  return resolve(dirname(file), path);
}

/** The entry of a list of named things, `clusters` or `users`; undefined if there is none. */
export function named(root: Field, listName: string, name: string): Field | undefined {
  const found = list(root, listName).filter(entry => text(object(entry), 'name') === name);
  if (found[1]) fail(found[1], `there are two of the name ${JSON.stringify(name)}: take one away`);
  return found[0];
}

export function names(root: Field, listName: string): string {
  const all = list(root, listName).map(entry => text(object(entry), 'name'));
  return all.length === 0 ? 'it is empty' : `it has ${all.join(', ')}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
