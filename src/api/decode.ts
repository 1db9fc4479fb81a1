import { isRecord } from '../lib/is-record.ts';
import { checkNames } from './check-names.ts';
import { decodeEndpointSlice } from './decode-endpoint-slice.ts';
import { decodeNode } from './decode-node.ts';
import { decodeService } from './decode-service.ts';
import { decodeServiceCidr } from './decode-service-cidr.ts';
import { describeValue, type FieldPath, type FieldProblem, fieldProblem } from './field-problem.ts';
import { FieldReader, type Fields } from './field-reader.ts';
import type { KubeObject } from './objects.ts';

export type DecodeResult =
  | { readonly kind: 'object'; readonly object: KubeObject }
  /** The object has a kind that a proxy does not use: `Deployment.apps`. */
  | { readonly kind: 'ignored'; readonly ignored: string }
  | {
      readonly kind: 'problems';
      readonly problems: readonly FieldProblem[];
      /** The object with the problems. Undefined if its name cannot be read. */
      readonly subject?: ObjectIdentity | undefined;
    };

export interface ObjectIdentity {
  readonly kind: KubeObject['kind'];
  /** Empty if the object has none. */
  readonly namespace: string;
  readonly name: string;
}

export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface DecodedItem {
  readonly result: DecodeResult;
  /** The path of the object in the value: empty, or `['items', 3]` in a list. */
  readonly path: FieldPath;
  /** The object as it was parsed, with all fields. */
  readonly value: unknown;
}

interface Kind {
  readonly group: string;
  readonly apiVersion: string;
  readonly decode: (reader: FieldReader, fields: Fields) => KubeObject;
}

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['Service', { group: '', apiVersion: 'v1', decode: decodeService }],
  ['Node', { group: '', apiVersion: 'v1', decode: decodeNode }],
  ['EndpointSlice', { group: 'discovery.k8s.io', apiVersion: 'discovery.k8s.io/v1', decode: decodeEndpointSlice }],
  ['ServiceCIDR', { group: 'networking.k8s.io', apiVersion: 'networking.k8s.io/v1', decode: decodeServiceCidr }],
]);

/**
 * Decodes one object from parsed JSON or YAML. Never throws. `type` is the default for objects without a type, such as
 * the items of an API server's lists.
 */
export function decodeObject(value: unknown, type?: TypeMeta): DecodeResult {
  if (!isRecord(value))
    return refusedResult([], `is ${describeValue(value)}, but must be a map with apiVersion and kind`);
  const kindName = value.kind ?? type?.kind;
  const apiVersion = value.apiVersion ?? type?.apiVersion;
  if (kindName === undefined)
    return refusedResult(['kind'], 'is missing: write the kind of the object, such as Service');
  if (typeof kindName !== 'string') return refusedResult(['kind'], `is ${describeValue(kindName)}, but must be text`);
  if (itemKind(kindName, apiVersion) !== undefined) {
    return refusedResult(
      ['kind'],
      `is ${kindName}, but must be the kind of a single object: take the objects out of the list`,
    );
  }
  const kind = KINDS.get(kindName);
  if (!kind || (typeof apiVersion === 'string' && groupOf(apiVersion) !== kind.group)) {
    return { kind: 'ignored', ignored: qualified(kindName, apiVersion) };
  }
  if (apiVersion !== kind.apiVersion)
    return refusedResult(['apiVersion'], wrongVersion(apiVersion, kind), value, kindName);
  const reader = new FieldReader();
  const object = kind.decode(reader, value);
  const problems = reader.problems.length > 0 ? reader.problems : checkNames(object);
  if (problems.length === 0) return { kind: 'object', object };
  return { kind: 'problems', problems, subject: subjectOf(value, kindName) };
}

/** Like decodeObject, but decodes all objects of a list (`List`, `ServiceList`, …). */
export function decodeObjects(value: unknown): readonly DecodedItem[] {
  const listKind = isRecord(value) ? itemKind(value.kind, value.apiVersion) : undefined;
  if (!isRecord(value) || listKind === undefined) return [{ result: decodeObject(value), path: [], value }];
  const items = value.items ?? [];
  if (!Array.isArray(items)) {
    return [{ result: refusedResult(['items'], `is ${describeValue(items)}, but must be a list`), path: [], value }];
  }
  const type = itemType(listKind, value.apiVersion);
  return Array.from(items, (item, i) => ({ result: decodeObject(item, type), path: ['items', i], value: item }));
}

/** The kind of the items of a list kind. Empty for a list of any kinds. Undefined if it is not a known list kind. */
function itemKind(kindName: unknown, apiVersion: unknown): string | undefined {
  if (typeof kindName !== 'string' || !kindName.endsWith('List')) return undefined;
  const name = kindName.slice(0, -'List'.length);
  const group = name === '' ? '' : KINDS.get(name)?.group;
  return group === undefined || (typeof apiVersion === 'string' && groupOf(apiVersion) !== group) ? undefined : name;
}

function itemType(kind: string, apiVersion: unknown): TypeMeta | undefined {
  return kind === '' || typeof apiVersion !== 'string' ? undefined : { kind, apiVersion };
}

function refusedResult(path: FieldPath, message: string, fields?: Fields, kindName?: string): DecodeResult {
  const subject = fields && kindName !== undefined ? subjectOf(fields, kindName) : undefined;
  return { kind: 'problems', problems: [fieldProblem(path, message)], subject };
}

function wrongVersion(apiVersion: unknown, kind: Kind): string {
  if (apiVersion === undefined) return `is missing: write ${kind.apiVersion}`;
  if (typeof apiVersion !== 'string') return `is ${describeValue(apiVersion)}: write ${kind.apiVersion}`;
  return `is ${apiVersion}, which is not supported: write the object as ${kind.apiVersion}`;
}

function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
}

function qualified(kindName: string, apiVersion: unknown): string {
  const group = typeof apiVersion === 'string' ? groupOf(apiVersion) : '';
  return group === '' ? kindName : `${kindName}.${group}`;
}

function subjectOf(fields: Fields, kindName: string): ObjectIdentity | undefined {
  const kind = isKind(kindName) ? kindName : undefined;
  const metadata = isRecord(fields.metadata) ? fields.metadata : undefined;
  const name = metadata?.name;
  const namespace = metadata?.namespace ?? '';
  if (!kind || typeof name !== 'string' || name === '' || typeof namespace !== 'string') return undefined;
  const isNamespaced = kind === 'Service' || kind === 'EndpointSlice';
  return { kind, namespace: isNamespaced ? namespace : '', name };
}

function isKind(name: string): name is KubeObject['kind'] {
  return KINDS.has(name);
}
