import type { Service } from '../../api/index.ts';
import { isRecord } from '../../lib/is-record.ts';
import { parseIp } from '../../net/index.ts';
import { readManifests } from '../../source/index.ts';
import { type FindService, type KnownService, serviceOfReport } from '../../trace/index.ts';
import type { ProxySocket } from '../proxy-socket.ts';

/** Asks the proxy of this node. */
export function serviceFromProxy(socket: ProxySocket): FindService {
  return async (namespace, name) => {
    const key = `${namespace}/${name}`;
    for await (const line of socket.lines(`/v1/plan?service=${encodeURIComponent(key)}`)) {
      // The first line has the schema.
      if (isRecord(line) && line.name === name && line.namespace === namespace) return serviceOfReport(key, line);
    }
    return { key, ports: [] };
  };
}

/** Asks the proxy of this node whether a connection of the node meets a frontend. */
export function servedFromProxy(socket: ProxySocket): (to: string) => Promise<boolean> {
  return async to => {
    const explanation = await socket.ask(`/v1/explain?from=node&to=${encodeURIComponent(to)}`);
    return isRecord(explanation) && isRecord(explanation.target);
  };
}

/** Reads the Services of manifests. */
export function serviceFromManifests(path: string): FindService {
  return async (namespace, name) => {
    const { manifests } = await readManifests(path, { allowLoopbackEndpoints: true });
    for (const { object } of manifests.values()) {
      const { kind, metadata } = object;
      if (kind === 'Service' && metadata.namespace === namespace && metadata.name === name) return serviceOf(object);
    }
    throw new Error(`${path} has no Service ${namespace}/${name}`);
  };
}

function serviceOf({ metadata, spec, status }: Service): KnownService {
  const clusterIPs = spec.clusterIPs.length > 0 ? spec.clusterIPs : [spec.clusterIP];
  const ingress = status.loadBalancer.ingress.map(({ ip }) => ip);
  // Some texts are no addresses, such as `None` of a headless Service.
  const addresses = [...clusterIPs, ...spec.externalIPs, ...ingress].flatMap(text => parseIp(text) ?? []);
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    ports: spec.ports.map(({ name, port, nodePort, protocol }) => ({
      name,
      protocol,
      frontends: [
        ...addresses.map(address => ({ address, port })),
        ...(nodePort === 0 ? [] : [{ address: 'node', port: nodePort } as const]),
      ],
    })),
  };
}
