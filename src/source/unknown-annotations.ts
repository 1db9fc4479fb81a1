import {
  ANNOTATION_BALANCE,
  ANNOTATION_EJECT_AFTER,
  ANNOTATION_ENDPOINT_END,
  ANNOTATION_GRACE,
  ANNOTATION_HASH_BY,
  ANNOTATION_SCHEDULER,
  ANNOTATION_SLOW_START,
  ANNOTATION_WEIGHTS,
  ANNOTATION_ZONE_WEIGHTS,
  type FieldProblem,
  fieldProblem,
  type KubeObject,
} from '../api/index.ts';
import { isRecord } from '../lib/is-record.ts';
import { nearest } from '../lib/nearest.ts';

const PREFIX = 'pointsman.dev/';
const OF_SERVICE: readonly string[] = [
  ANNOTATION_SCHEDULER,
  ANNOTATION_BALANCE,
  ANNOTATION_HASH_BY,
  ANNOTATION_WEIGHTS,
  ANNOTATION_ZONE_WEIGHTS,
  ANNOTATION_SLOW_START,
  ANNOTATION_ENDPOINT_END,
  ANNOTATION_GRACE,
  ANNOTATION_EJECT_AFTER,
];
const KNOWN: Partial<Record<KubeObject['kind'], readonly string[]>> = {
  Service: OF_SERVICE,
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
  if (kind !== 'Service' && OF_SERVICE.includes(name)) return 'has no effect here: write it on the Service';
  // The common prefix would make all names alike.
  const short = (text: string) => text.slice(PREFIX.length);
  const other = nearest(short(name), known.map(short));
  const message = 'is no annotation that Pointsman knows';
  return other === undefined ? `${message}: remove it` : `${message}: did you mean ${PREFIX}${other}?`;
}
