import {
  type EndpointSlice,
  type KubeObject,
  type Node,
  objectKey,
  type Service,
  type ServiceCIDR,
} from '../../api/index.ts';
import type { Problem } from '../../lib/problem.ts';

/** All objects of a source at one moment, also those that no proxy uses. */
export interface Snapshot {
  readonly origin: 'cluster' | 'manifests';
  /** Where the objects come from, for messages: a path, or a server. */
  readonly name: string;
  readonly services: ReadonlyMap<string, Service>;
  readonly slices: ReadonlyMap<string, EndpointSlice>;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly serviceCidrs: readonly ServiceCIDR[];
  /** The place of an object: a file with line and column, or an API path. */
  whereOf(object: KubeObject): string | undefined;
  readonly problems: readonly Problem[];
  /** What the operator should know although nothing is wrong. */
  readonly notes: readonly string[];
}

type Sorted = Pick<Snapshot, 'services' | 'slices' | 'nodes' | 'serviceCidrs'>;

export function sortObjects(objects: Iterable<KubeObject>): Sorted {
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  const nodes = new Map<string, Node>();
  const serviceCidrs: ServiceCIDR[] = [];
  for (const object of objects) {
    if (object.kind === 'Service') services.set(objectKey(object.metadata), object);
    else if (object.kind === 'EndpointSlice') slices.set(objectKey(object.metadata), object);
    else if (object.kind === 'Node') nodes.set(object.metadata.name, object);
    else serviceCidrs.push(object);
  }
  return { services, slices, nodes, serviceCidrs };
}

/** Adds the place of the object to a problem that has none. */
export function withPlace(problem: Problem, snapshot: Snapshot): Problem {
  const [kind, key = ''] = problem.object?.split(' ') ?? [];
  const object =
    kind === 'Service'
      ? snapshot.services.get(key)
      : kind === 'EndpointSlice'
        ? snapshot.slices.get(key)
        : kind === 'Node'
          ? snapshot.nodes.get(key)
          : undefined;
  const where = problem.where ?? (object && snapshot.whereOf(object));
  return where === undefined ? problem : { ...problem, where };
}
