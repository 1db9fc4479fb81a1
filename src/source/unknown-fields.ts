import { type FieldPath, type FieldProblem, fieldProblem, type KubeObject } from '../api/index.ts';
import { isRecord } from '../lib/is-record.ts';
import { KUBERNETES_VERSION } from '../lib/kubernetes-version.ts';
import { nearest } from '../lib/nearest.ts';
import { KNOWN_FIELDS, type KnownFields, LEAF } from './known-fields.ts';
import { unknownAnnotations } from './unknown-annotations.ts';

const [MINOR = KUBERNETES_VERSION] = /^v\d+\.\d+/.exec(KUBERNETES_VERSION) ?? [];

/** Finds fields that the API does not have, and annotations that we do not know. An API server ignores or refuses them, so what they should do is not done. */
export function unknownFields(value: unknown, kind: KubeObject['kind']): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  visit(value, KNOWN_FIELDS[kind], [], (path, known) => {
    problems.push({ ...fieldProblem(path, messageFor(path, known, kind)), reason: 'doubtful' });
  });
  return [...problems, ...unknownAnnotations(value, kind)];
}

type Found = (path: FieldPath, known: KnownFields) => void;

function visit(value: unknown, known: KnownFields, path: FieldPath, found: Found): void {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) if (isRecord(item)) visit(item, known, [...path, i], found);
    return;
  }
  if (!isRecord(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    const below = Object.hasOwn(known, name) ? known[name] : undefined;
    if (below === undefined) found([...path, name], known);
    else if (below !== LEAF && inner !== null) visit(inner, below, [...path, name], found);
  }
}

function messageFor(path: FieldPath, known: KnownFields, kind: KubeObject['kind']): string {
  const name = String(path.at(-1));
  const other = nearest(name, Object.keys(known)) ?? placeOf(name, KNOWN_FIELDS[kind], '');
  const article = kind === 'EndpointSlice' ? 'an' : 'a';
  const message = `is no field of ${article} ${kind} in Kubernetes ${MINOR}`;
  return other === undefined ? `${message}: remove it` : `${message}: did you mean ${other}?`;
}

/** Where the field belongs, if it stands in the wrong map: `spec.ports[].targetPort`. */
function placeOf(name: string, known: KnownFields, parent: string): string | undefined {
  for (const [field, below] of Object.entries(known)) {
    // Every object has metadata with common names such as `name`. A hint to them would mislead.
    if (below === LEAF || field === 'metadata') continue;
    const path = parent === '' ? field : `${parent}.${field}`;
    if (Object.hasOwn(below, name)) return `${path}.${name}`;
    const deeper = placeOf(name, below, path);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
