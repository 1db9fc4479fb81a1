import type { EndpointSlice, KubeObject, LoadBalancerIngress, Service, ServiceSpec } from '../api/index.ts';
import { familyOf, parseIp } from '../net/index.ts';

export const DEFAULT_NAMESPACE = 'default';
const DEFAULT_AFFINITY_TIMEOUT_SECONDS = 10_800;

/** Fills in the defaults that an API server would fill in. */
export function withDefaults(object: KubeObject): KubeObject {
  switch (object.kind) {
    case 'Service':
      return serviceWithDefaults(object);
    case 'EndpointSlice':
      return sliceWithDefaults(object);
    case 'Node':
    case 'ServiceCIDR':
      return object;
  }
}

function serviceWithDefaults(service: Service): Service {
  const spec = specWithDefaults(service.spec);
  const { ingress } = service.status.loadBalancer;
  const fillModes = spec.type === 'LoadBalancer' && ingress.some(lacksMode);
  return {
    ...service,
    metadata: { ...service.metadata, namespace: service.metadata.namespace || DEFAULT_NAMESPACE },
    spec,
    status: fillModes ? { loadBalancer: { ingress: ingress.map(withMode) } } : service.status,
  };
}

function specWithDefaults(spec: ServiceSpec): ServiceSpec {
  const type = spec.type || 'ClusterIP';
  const sessionAffinity = spec.sessionAffinity || 'None';
  const clusterIPs = spec.clusterIPs.length === 0 && spec.clusterIP !== '' ? [spec.clusterIP] : spec.clusterIPs;
  return {
    ...spec,
    type,
    clusterIP: spec.clusterIP || (clusterIPs[0] ?? ''),
    clusterIPs,
    ipFamilies: spec.ipFamilies.length === 0 ? familiesOf(clusterIPs) : spec.ipFamilies,
    sessionAffinity,
    sessionAffinityTimeoutSeconds: affinityTimeout(sessionAffinity, spec.sessionAffinityTimeoutSeconds),
    externalTrafficPolicy: spec.externalTrafficPolicy || (isExternal(type, spec) ? 'Cluster' : ''),
    internalTrafficPolicy: spec.internalTrafficPolicy ?? (type === 'ExternalName' ? undefined : 'Cluster'),
  };
}

/** Only such Services have an external policy. External IPs make a ClusterIP Service external. */
function isExternal(type: string, spec: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && spec.externalIPs.length > 0);
}

function affinityTimeout(sessionAffinity: string, seconds: number | undefined): number | undefined {
  return sessionAffinity === 'ClientIP' ? (seconds ?? DEFAULT_AFFINITY_TIMEOUT_SECONDS) : undefined;
}

/** Empty if one of the texts is not an address: with one missing, families would pair with the wrong addresses. */
function familiesOf(clusterIPs: readonly string[]): readonly string[] {
  const ips = clusterIPs.map(text => parseIp(text));
  return ips.every(ip => ip !== undefined) ? ips.map(familyOf) : [];
}

function lacksMode(ingress: LoadBalancerIngress): boolean {
  return ingress.ip !== '' && ingress.ipMode === undefined;
}

function withMode(ingress: LoadBalancerIngress): LoadBalancerIngress {
  return lacksMode(ingress) ? { ...ingress, ipMode: 'VIP' } : ingress;
}

function sliceWithDefaults(slice: EndpointSlice): EndpointSlice {
  return {
    ...slice,
    metadata: { ...slice.metadata, namespace: slice.metadata.namespace || DEFAULT_NAMESPACE },
    ports: slice.ports.map(port => ({ ...port, name: port.name ?? '' })),
  };
}
