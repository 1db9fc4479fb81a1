import {
  type EndpointPort,
  type EndpointSlice,
  LABEL_HEADLESS_SERVICE,
  LABEL_SERVICE_NAME,
  objectKey,
  objectName,
  type Service,
  type ServicePortSpec,
} from '../../api/index.ts';
import { appendTo } from '../../lib/append-to.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Problem } from '../../lib/problem.ts';
import { familyOf, parseIp } from '../../net/index.ts';
import { isSelected } from '../../source/index.ts';
import type { Snapshot } from '../facts/index.ts';

const LABEL_FIELD = `metadata.labels["${LABEL_SERVICE_NAME}"]`;

/** The search for a similar name compares it with the names of all Services. */
const MAX_SUGGESTIONS = 50;

/**
 * Finds slices that serve no port of a Service, and ports that no slice serves. Only for objects of one moment: a running
 * proxy receives Services and slices in any order.
 */
export function sliceProblems(snapshot: Snapshot): readonly Problem[] {
  if (snapshot.services.size === 0 && !snapshot.problems.some(({ kind }) => kind === 'Service')) {
    return withoutServices(snapshot);
  }
  const slicesOf = new Map<string, EndpointSlice[]>();
  const problems: Problem[] = [];
  for (const slice of snapshot.slices.values()) {
    const key = serviceKey(slice);
    const service = key === undefined ? undefined : snapshot.services.get(key);
    if (!isSelected(slice, '')) problems.push(...ofHeadless(slice, service, snapshot));
    else if (!service) problems.push(...withoutService(slice, key, snapshot, problems.length < MAX_SUGGESTIONS));
    else if (isServed(service)) appendTo(slicesOf, objectKey(service.metadata), slice);
  }
  for (const [key, slices] of slicesOf) {
    const service = snapshot.services.get(key);
    if (!service) continue;
    const ofSlices = slices.flatMap(slice => ofService(slice, service, snapshot));
    problems.push(...ofSlices, ...(ofSlices.length > 0 ? [] : unservedPorts(service, slices, snapshot)));
  }
  return problems;
}

/** Whether a proxy gives the Service's clients to endpoints. */
function isServed(service: Service): boolean {
  return isSelected(service, '') && service.spec.type !== 'ExternalName';
}

function serviceKey({ metadata }: EndpointSlice): string | undefined {
  const name = metadata.labels[LABEL_SERVICE_NAME];
  return name ? objectKey({ namespace: metadata.namespace, name }) : undefined;
}

/** One problem, because every slice would have the same. */
function withoutServices({ name, slices }: Snapshot): readonly Problem[] {
  if (slices.size === 0) return [];
  return [{ where: name, message: `has EndpointSlices (${slices.size}), but no Services: add the Services` }];
}

/** What is probably missing in the input. */
export function sliceNotes({ services, slices }: Snapshot): readonly string[] {
  if (services.size === 0 || slices.size > 0) return [];
  return ['there are no EndpointSlices, so no Service has endpoints: add the EndpointSlices'];
}

/** Every proxy ignores a slice with this label. */
function ofHeadless(slice: EndpointSlice, service: Service | undefined, snapshot: Snapshot): readonly Problem[] {
  if (!service || !isServed(service)) return [];
  const title = `Service ${objectKey(service.metadata)}`;
  const message = `makes proxies ignore the slice, but ${title} is not headless: remove the label`;
  return [sliceProblem(slice, `metadata.labels["${LABEL_HEADLESS_SERVICE}"]`, message, snapshot)];
}

function withoutService(
  slice: EndpointSlice,
  key: string | undefined,
  snapshot: Snapshot,
  isSuggesting: boolean,
): readonly Problem[] {
  // The model reports a slice without the label. A Service that cannot be used has a problem of its own.
  if (key === undefined || snapshot.problems.some(({ object }) => object === `Service ${key}`)) return [];
  const other = isSuggesting ? nearestService(key, snapshot) : undefined;
  const advice = other === undefined ? '' : `: did you mean ${other}?`;
  const message = `names the Service ${key}, which does not exist${advice}`;
  return [sliceProblem(slice, LABEL_FIELD, message, snapshot)];
}

/** A similar name in the same namespace, the same name in another one, or else a similar name anywhere. */
export function nearestService(key: string, { services }: Pick<Snapshot, 'services'>): string | undefined {
  const { namespace, name } = objectName(key);
  const keys = [...services.keys()];
  const here = keys.filter(other => objectName(other).namespace === namespace);
  const similar = nearest(
    name,
    here.map(other => objectName(other).name),
  );
  if (similar !== undefined) return objectKey({ namespace, name: similar });
  return keys.find(other => objectName(other).name === name) ?? nearest(key, keys);
}

function ofService(slice: EndpointSlice, service: Service, snapshot: Snapshot): readonly Problem[] {
  const title = `Service ${objectKey(service.metadata)}`;
  const { addressType, endpoints, ports } = slice;
  if (addressType === 'FQDN') {
    const message = `is FQDN, which no proxy uses: give ${title} endpoints with IP addresses`;
    return [sliceProblem(slice, 'addressType', message, snapshot)];
  }
  const families = service.spec.clusterIPs.flatMap(text => parseIp(text) ?? []).map(familyOf);
  if (families.length > 0 && !families.some(family => family === addressType)) {
    const message = `is ${addressType}, but ${title} has only addresses of ${families.join(' and ')}`;
    return [sliceProblem(slice, 'addressType', message, snapshot)];
  }
  if (ports.length === 0 && endpoints.length > 0) {
    const message = `is empty, so ${title} cannot use the ${endpoints.length} endpoints${targetPortHint(service.spec.ports)}`;
    return [sliceProblem(slice, 'ports', message, snapshot)];
  }
  return ports.flatMap((port, i) => ofPort(port, i, slice, service, snapshot));
}

function ofPort(
  port: EndpointPort,
  i: number,
  slice: EndpointSlice,
  { metadata, spec }: Service,
  snapshot: Snapshot,
): readonly Problem[] {
  const name = port.name ?? '';
  const title = `Service ${objectKey(metadata)}`;
  const named = spec.ports.filter(other => other.name === name);
  const problem = (field: string, message: string) => [sliceProblem(slice, `ports[${i}].${field}`, message, snapshot)];
  if (named.length === 0) {
    const names = spec.ports.map(other => other.name);
    const other = names.length === 1 ? names[0] : nearest(name, names);
    const advice = other === undefined || other === '' ? '' : `: did you mean ${other}?`;
    return problem('name', `is ${quoted(name)}, but ${title} has ${portList(names)}${advice}`);
  }
  const protocols = named.map(({ protocol }) => protocol);
  if (protocols.includes(port.protocol)) return [];
  const what = name === '' ? 'the port' : `the port ${name}`;
  return problem('protocol', `is ${port.protocol}, but ${what} of ${title} is ${protocols.join(' and ')}`);
}

function unservedPorts(service: Service, slices: readonly EndpointSlice[], snapshot: Snapshot): readonly Problem[] {
  const withEndpoints = slices.filter(({ endpoints }) => endpoints.length > 0);
  if (withEndpoints.length === 0) return [];
  const isServedBy = (port: ServicePortSpec) => (other: EndpointPort) =>
    (other.name ?? '') === port.name && other.protocol === port.protocol;
  return service.spec.ports.flatMap((port, i) => {
    if (withEndpoints.some(({ ports }) => ports.some(isServedBy(port)))) return [];
    const message = `is ${quoted(port.name)} (${port.protocol}), but no EndpointSlice of the Service has such a port`;
    return [
      {
        where: snapshot.whereOf(service),
        kind: 'Service',
        object: `Service ${objectKey(service.metadata)}`,
        field: `spec.ports[${i}].name`,
        message: `${message}${targetPortHint([port])}`,
      },
    ];
  });
}

/** A controller leaves a port out of the slices if no pod has a port of the name that targetPort gives. */
function targetPortHint(ports: readonly ServicePortSpec[]): string {
  const names = ports.flatMap(({ targetPort }) => (typeof targetPort === 'string' ? [targetPort] : []));
  if (names.length === 0) return '';
  return `: its pods probably have no container port with the name ${names.join(' or ')}, which targetPort wants`;
}

function portList(names: readonly string[]): string {
  const [first] = names;
  if (names.length === 0) return 'no ports';
  if (names.length === 1 && first === '') return 'one port without a name';
  return `the port${names.length === 1 ? '' : 's'} ${names.join(', ')}`;
}

function quoted(name: string): string {
  return name === '' ? 'empty' : name;
}

function sliceProblem(slice: EndpointSlice, field: string, message: string, snapshot: Snapshot): Problem {
  const object = `EndpointSlice ${objectKey(slice.metadata)}`;
  return { where: snapshot.whereOf(slice), kind: 'EndpointSlice', object, field, message };
}
