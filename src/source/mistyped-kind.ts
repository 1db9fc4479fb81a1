import { type FieldProblem, fieldProblem } from '../api/index.ts';
import { isRecord } from '../lib/is-record.ts';
import { nearest } from '../lib/nearest.ts';

const LIST = 'List';

const API_VERSIONS: ReadonlyMap<string, string> = new Map([
  ['Service', 'v1'],
  ['Node', 'v1'],
  ['EndpointSlice', 'discovery.k8s.io/v1'],
  ['ServiceCIDR', 'networking.k8s.io/v1'],
  ['List', 'v1'],
  ['ServiceList', 'v1'],
  ['NodeList', 'v1'],
  ['EndpointSliceList', 'discovery.k8s.io/v1'],
  ['ServiceCIDRList', 'networking.k8s.io/v1'],
]);

/** Finds an object that would be ignored although it probably is one that a proxy uses. */
export function mistypedKind(value: unknown): FieldProblem | undefined {
  if (!isRecord(value) || typeof value.kind !== 'string') return undefined;
  const { kind, apiVersion } = value;
  if (isForeign(apiVersion)) return undefined;
  const right = API_VERSIONS.get(kind);
  if (right !== undefined) {
    const message = `is ${String(apiVersion)}, but the kind ${kind} is in ${right}: write ${right}`;
    return fieldProblem(['apiVersion'], message);
  }
  if (!isOurVersion(apiVersion)) return undefined;
  const other = similarKind(kind);
  return other === undefined ? undefined : fieldProblem(['kind'], `is ${kind}: did you mean ${other}?`);
}

function similarKind(kind: string): string | undefined {
  const known = [...API_VERSIONS.keys()];
  if (!kind.endsWith(LIST)) return nearest(kind, known);
  // `List` makes all list kinds alike: only the rest of the name counts.
  const items = known.filter(name => name.endsWith(LIST) && name !== LIST).map(name => name.slice(0, -LIST.length));
  const item = nearest(kind.slice(0, -LIST.length), items);
  return item && `${item}${LIST}`;
}

/** A group that is not of Kubernetes itself may have kinds with any names: `serving.knative.dev/v1` has a Service. */
function isForeign(apiVersion: unknown): boolean {
  if (typeof apiVersion !== 'string') return false;
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
  return group.includes('.') && !group.endsWith('.k8s.io');
}

function isOurVersion(apiVersion: unknown): boolean {
  return apiVersion === undefined || [...API_VERSIONS.values()].some(version => version === apiVersion);
}
