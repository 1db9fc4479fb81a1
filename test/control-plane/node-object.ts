import { NODE_IP, NODE_IP6 } from '../support/namespaces.ts';
import type { KubeObject } from './objects.ts';

/** The Node object of the node that the proxy runs on. */
export const NODE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-a', labels: { 'kubernetes.io/hostname': 'node-a', 'topology.kubernetes.io/zone': 'zone-a' } },
  spec: { podCIDRs: ['10.244.1.0/24', 'fd00:10:244:1::/64'], podCIDR: '10.244.1.0/24' },
  status: {
    addresses: [
      { type: 'InternalIP', address: NODE_IP },
      { type: 'InternalIP', address: NODE_IP6 },
      { type: 'Hostname', address: 'node-a' },
    ],
  },
};
