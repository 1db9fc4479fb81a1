import type { EndpointSlice, Service } from '../../src/api/index.ts';

const ENDPOINTS_PER_SLICE = 100;

/** The ranges of the addresses below. */
export const SERVICE_RANGE = '10.96.0.0/12';
export const POD_RANGE = '10.128.0.0/9';

/** A number of Services, and the number of endpoints of each. */
export interface Size {
  readonly services: number;
  readonly endpoints: number;
}

/** `5000x5` */
export function sizeName({ services, endpoints }: Size): string {
  return `${services}x${endpoints}`;
}

export function parseSize(text: string): Size {
  const [, services, endpoints] = /^(\d+)x(\d+)$/.exec(text) ?? [];
  if (services === undefined)
    throw new Error(`${text} is not a size. For example, 5000x5 is 5000 Services with 5 endpoints each`);
  return { services: Number(services), endpoints: Number(endpoints) };
}

/** Service number `i`. Every string is a new copy, as from an API server. */
export function makeService(i: number): Service {
  const clusterIP = `10.${96 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
  return fresh({
    kind: 'Service',
    metadata: {
      name: `service-${i}`,
      namespace: `namespace-${i % 100}`,
      labels: {},
      annotations: {},
      resourceVersion: `${i}`,
    },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 0 }],
      externalIPs: [],
      loadBalancerSourceRanges: [],
      sessionAffinity: 'None',
      externalTrafficPolicy: '',
      internalTrafficPolicy: 'Cluster',
      healthCheckNodePort: 0,
    },
    status: { loadBalancer: { ingress: [] } },
  });
}

/** The EndpointSlices of Service number `i`, with `count` endpoints together. */
export function makeSlices(i: number, count: number): EndpointSlice[] {
  const slices: EndpointSlice[] = [];
  for (let first = 0; first < count; first += ENDPOINTS_PER_SLICE) {
    const endpoints = Array.from({ length: Math.min(ENDPOINTS_PER_SLICE, count - first) }, (_, j) => {
      const n = i * count + first + j;
      return {
        addresses: [`10.${128 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`],
        nodeName: `node-${n % 1000}`,
        ready: true,
        serving: true,
        terminating: false,
        zoneHints: [],
        nodeHints: [],
      };
    });
    slices.push(
      fresh({
        kind: 'EndpointSlice',
        metadata: {
          name: `service-${i}-${first}`,
          namespace: `namespace-${i % 100}`,
          labels: { 'kubernetes.io/service-name': `service-${i}` },
          annotations: {},
          resourceVersion: `${i}`,
        },
        addressType: 'IPv4',
        ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
        endpoints,
      }),
    );
  }
  return slices;
}

function fresh<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
