import type { KubeObject } from '../control-plane/objects.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A Service with port 80. Without a cluster IP, the API server allocates one. */
export function service(name: string, clusterIP?: string, spec: Fields = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { clusterIP, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
  };
}

/** A Service with a cluster IP of each family. */
export function dualStackService(name: string, clusterIPs: readonly [string, string], spec: Fields = {}): KubeObject {
  return service(name, clusterIPs[0], { clusterIPs, ipFamilyPolicy: 'RequireDualStack', ...spec });
}

export interface Endpoint {
  readonly ip: string;
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
}

/** An EndpointSlice of the Service that its name begins with: `web-1` belongs to `web`. Endpoints are on the node. */
export function slice(name: string, endpoints: readonly (string | Endpoint)[], annotations: Fields = {}): KubeObject {
  const all = endpoints.map(endpoint => (typeof endpoint === 'string' ? { ip: endpoint } : endpoint));
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, annotations, labels: { 'kubernetes.io/service-name': name.replace(/-[^-]*$/, '') } },
    addressType: all[0]?.ip.includes(':') ? 'IPv6' : 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: all.map(({ ip, conditions = {} }) => ({ addresses: [ip], nodeName: 'node-a', conditions })),
  };
}
