import type { Protocol } from '../api/index.ts';
import { type Change, changeBetween, latestOf } from '../lib/change.ts';
import { NONE } from '../lib/none.ts';
import {
  type ModelDiff,
  type NodeTopology,
  type PortEndpoints,
  type ServicePort,
  type ServiceState,
  sameEndpoints,
  sameServicePort,
  servicePortName,
} from '../model/index.ts';
import { type Family, joinHostPort } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import { endpointsOf, ignoredHints } from '../plan/index.ts';

/** A part of a Service: a port, or the endpoints of a port. */
interface Part {
  readonly name: string;
  readonly protocol: Protocol;
}

interface Parts<T> {
  readonly service: string;
  readonly from: readonly T[];
  readonly to: readonly T[];
}

/**
 * Logs which service ports and endpoints a sync is about to write, at the levels of upstream. With a low verbosity it
 * looks at no object.
 */
export function logChanges(
  log: Logger,
  ipFamily: Family,
  { services }: Pick<ModelDiff, 'services'>,
  node: NodeTopology,
): void {
  const [showPorts, showEndpoints] = [log.isEnabled(4, 'services'), log.isEnabled(3, 'endpoints')];
  const showHints = log.isEnabled(2, 'topology');
  if (!showPorts && !showEndpoints && !showHints) return;
  for (const change of services) {
    const { key: service } = latestOf(change);
    const from = change.type === 'added' ? undefined : change.from;
    const to = change.type === 'removed' ? undefined : change.to;
    const ports = { service, from: from?.ports ?? NONE, to: to?.ports ?? NONE };
    const endpoints = { service, from: from?.endpoints ?? NONE, to: to?.endpoints ?? NONE };
    if (showPorts) logPorts(log, ipFamily, ports);
    if (showEndpoints) logEndpoints(log, ipFamily, endpoints);
    if (showHints && to) logIgnoredHints(log, ipFamily, to, node);
  }
}

function logPorts(log: Logger, ipFamily: Family, parts: Parts<ServicePort>): void {
  forEachChange(parts, sameServicePort, (portName, change) => {
    if (change.type === 'removed') {
      log.v(4, 'services', 'Service port removed', { ipFamily, portName });
      return;
    }
    const { clusterIP, port, protocol } = change.to;
    const fields = { ipFamily, portName, servicePort: `${joinHostPort(clusterIP, port)}/${protocol}` };
    if (change.type === 'added') log.v(4, 'services', 'Service port added', fields);
    else log.v(4, 'services', 'Service port updated', fields);
  });
}

function logEndpoints(log: Logger, ipFamily: Family, parts: Parts<PortEndpoints>): void {
  const isSame = (a: PortEndpoints, b: PortEndpoints) => sameEndpoints(a.endpoints, b.endpoints);
  forEachChange(parts, isSame, (portName, change) => {
    if (change.type === 'removed') {
      log.v(3, 'endpoints', 'Endpoints of a service port removed', { ipFamily, portName });
      return;
    }
    const fields = { ipFamily, portName, endpoints: change.to.endpoints.map(({ text }) => text) };
    if (change.type === 'added') log.v(3, 'endpoints', 'Endpoints of a service port added', fields);
    else log.v(3, 'endpoints', 'Endpoints of a service port updated', fields);
  });
}

/** As upstream, hints that only some endpoints have are logged at a higher level: this happens during a roll-out. */
function logIgnoredHints(log: Logger, ipFamily: Family, service: ServiceState, node: NodeTopology): void {
  for (const port of service.ports) {
    const ignored = ignoredHints(endpointsOf(service, port), port, node);
    if (!ignored) continue;
    const fields = { ipFamily, portName: servicePortName(service.key, port.name), reason: ignored.reason };
    if (ignored.isIncomplete) log.v(7, 'topology', 'Topology hints are ignored', fields);
    else log.v(2, 'topology', 'Topology hints are ignored', fields);
  }
}

/** Calls `onChange` for each part that was added, updated or removed. */
function forEachChange<T extends Part>(
  { service, from, to }: Parts<T>,
  isSame: (a: T, b: T) => boolean,
  onChange: (portName: string, change: Change<T>) => void,
): void {
  const before = byKey(from);
  const after = byKey(to);
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(key), after.get(key)];
    const change = changeBetween(old, now);
    if (!change || (old && now && isSame(old, now))) continue;
    onChange(servicePortName(service, latestOf(change).name), change);
  }
}

function byKey<T extends Part>(parts: readonly T[]): ReadonlyMap<string, T> {
  return new Map(parts.map(part => [`${part.name} ${part.protocol}`, part]));
}
