import type { KubeObject } from '../../control-plane/objects.ts';

/** A Service of a run. Its port at the pods belongs to it alone, so an answer shows which Service was reached. */
export interface ServiceSpec {
  readonly name: string;
  readonly clusterIP: string;
  readonly targetPort: number;
  readonly nodePort?: number;
  /** Its endpoints never change. */
  readonly isStable?: boolean;
}

export const FIRST_PORT = 8101;
/** These pods are addresses of another node. */
export const REMOTE_PODS = ['10.244.2.11', '10.244.2.12', '10.244.2.13', '10.244.2.14', '10.244.2.15'] as const;
export const LOCAL_PODS = ['10.244.1.21', '10.244.1.22'] as const;
export const PODS: readonly string[] = [...REMOTE_PODS, ...LOCAL_PODS];

const CHANGING = 10;

export const STABLE: readonly ServiceSpec[] = [
  { name: 'stable-1', clusterIP: '10.96.20.1', targetPort: FIRST_PORT, nodePort: 30201, isStable: true },
  { name: 'stable-2', clusterIP: '10.96.20.2', targetPort: FIRST_PORT + 1, isStable: true },
];

/** The two Services of a pair have the same cluster IP. At most one of the two exists at a time. */
export const PAIRS: readonly (readonly [ServiceSpec, ServiceSpec])[] = [0, 1].map(index => {
  const one = (which: number): ServiceSpec => ({
    name: `pair-${index}-${which}`,
    clusterIP: `10.96.21.${index + 1}`,
    targetPort: FIRST_PORT + 2 + 2 * index + which,
  });
  return [one(0), one(1)];
});

export const CHANGED: readonly ServiceSpec[] = Array.from({ length: CHANGING }, (_, index) => ({
  name: `changed-${index}`,
  clusterIP: `10.96.22.${index + 1}`,
  targetPort: FIRST_PORT + 6 + index,
  ...(index < 4 && { nodePort: 30210 + index }),
}));

export const ALL: readonly ServiceSpec[] = [...STABLE, ...PAIRS.flat(), ...CHANGED];
export const LAST_PORT = Math.max(...ALL.map(({ targetPort }) => targetPort));

export function serviceObject({ name, clusterIP, targetPort, nodePort }: ServiceSpec): KubeObject {
  const port = { name: 'http', port: 80, targetPort, ...(nodePort !== undefined && { nodePort }) };
  const type = nodePort === undefined ? 'ClusterIP' : 'NodePort';
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { type, clusterIP, ports: [port] } };
}

export function sliceObject({ name, targetPort }: ServiceSpec, pods: readonly string[]): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: targetPort, protocol: 'TCP' }],
    endpoints: pods.map(ip => ({
      addresses: [ip],
      nodeName: ip.startsWith('10.244.1.') ? 'node-a' : 'node-b',
      conditions: { ready: true },
    })),
  };
}
