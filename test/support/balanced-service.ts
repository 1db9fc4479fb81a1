import { ANNOTATION_BALANCE } from '../../src/api/index.ts';
import type { Algorithm } from '../../src/model/index.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { service, slice } from './objects.ts';

/** Addresses of a Service and its endpoints, by family. */
export const BALANCED = {
  IPv4: { clusterIP: '10.96.0.1' as Ip, pods: ips(i => `10.244.1.${i}`) },
  IPv6: { clusterIP: 'fd00:10:96::1' as Ip, pods: ips(i => `fd00:10:244::${i.toString(16)}`) },
} as const;
export const BALANCED_NODE_PORT = 30080;

export interface BalancedService {
  readonly algorithm: Algorithm;
  /** The default is three. */
  readonly pods?: readonly string[];
  /** Further annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly protocol?: 'TCP' | 'UDP';
  readonly spec?: Parameters<typeof service>[1];
}

/** The Service `web` with port 80 and a node port, and its endpoints with port 8080. */
export function balancedService(family: Family, options: BalancedService) {
  const { algorithm, pods = BALANCED[family].pods.slice(0, 3), annotations, protocol = 'TCP', spec } = options;
  const web = service('web', {
    type: 'NodePort',
    clusterIP: BALANCED[family].clusterIP,
    externalTrafficPolicy: 'Cluster',
    ports: [{ name: 'http', protocol, nodePort: BALANCED_NODE_PORT }],
    annotations: { [ANNOTATION_BALANCE]: algorithm, ...annotations },
    ...spec,
  });
  const ports = [{ name: 'http', protocol, port: 8080 }];
  return [web, slice('web-1', pods, { addressType: family, ports })] as const;
}

function ips(text: (i: number) => string): readonly Ip[] {
  return Array.from({ length: 12 }, (_, i) => text(i + 1) as Ip);
}
