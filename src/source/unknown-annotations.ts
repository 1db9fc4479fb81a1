import {
  ANNOTATION_WEIGHTS,
  type FieldProblem,
  fieldProblem,
  type KubeObject,
  SERVICE_ANNOTATIONS,
} from '../api/index.ts';
import { isRecord } from '../lib/is-record.ts';
import { nearest } from '../lib/nearest.ts';

const PREFIX = 'pointsman.dev/';
const KNOWN: Partial<Record<KubeObject['kind'], readonly string[]>> = {
  Service: SERVICE_ANNOTATIONS,
  EndpointSlice: [ANNOTATION_WEIGHTS],
};

/** Finds annotations with our prefix that have no effect. Those of other programs are not our business. */
export function unknownAnnotations(value: unknown, kind: KubeObject['kind']): readonly FieldProblem[] {
  const annotations = isRecord(value) && isRecord(value.metadata) ? value.metadata.annotations : undefined;
  if (!isRecord(annotations)) return [];
  const known = KNOWN[kind] ?? [];
  return Object.keys(annotations)
    .filter(name => name.startsWith(PREFIX) && !known.includes(name))
    .map(name => {
      const problem = fieldProblem(['metadata', 'annotations', name], messageFor(name, kind, known));
      return { ...problem, reason: 'doubtful' };
    });
}

function messageFor(name: string, kind: KubeObject['kind'], known: readonly string[]): string {
  if (kind !== 'Service' && SERVICE_ANNOTATIONS.some(other => other === name))
    return 'has no effect here: write it on the Service';
  // The common prefix would make all names alike.
  const short = (text: string) => text.slice(PREFIX.length);
  const other = nearest(short(name), known.map(short));
  const message = 'is no annotation that Pointsman knows';
  return other === undefined ? `${message}: remove it` : `${message}: did you mean ${PREFIX}${other}?`;
}
