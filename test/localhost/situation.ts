import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { type ProbeProtocol, probe } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { NODE_IP, NODE_IP6 } from '../support/namespaces.ts';
import { service, slice } from '../support/objects.ts';

/** The pods of this node. All of them answer at TCP and UDP port 8080 with their address. */
export const PODS = ['10.244.1.10', '10.244.1.11', 'fd00:10:244:1::10', 'fd00:10:244:1::11'] as const;

/** A pod of another node, which no client of the test reaches. */
const REMOTE_POD = { ip: '10.244.2.10', nodeName: 'node-b' };
/** An address of this node at which nothing listens. */
const DEAD_POD = { ip: '10.244.1.10', nodeName: 'node-a' };

const [POD_A, POD_B, POD6_A, POD6_B] = PODS.map(ip => ({ ip, nodeName: 'node-a' }));
if (!POD_A || !POD_B || !POD6_A || !POD6_B) throw new Error('a pod is missing');

interface Case {
  readonly name: string;
  readonly nodePort: number;
  readonly protocol?: ProbeProtocol | undefined;
  readonly spec?: Partial<Service['spec']>;
  readonly endpoints: Parameters<typeof slice>[1];
  readonly targetPort?: number;
}

export const CASES: readonly Case[] = [
  { name: 'web', nodePort: 30080, endpoints: [POD_A, POD_B] },
  { name: 'sticky', nodePort: 30081, spec: { sessionAffinity: 'ClientIP' }, endpoints: [POD_A, POD_B] },
  { name: 'local', nodePort: 30082, spec: { externalTrafficPolicy: 'Local' }, endpoints: [POD_A, REMOTE_POD] },
  { name: 'elsewhere', nodePort: 30083, spec: { externalTrafficPolicy: 'Local' }, endpoints: [REMOTE_POD] },
  { name: 'empty', nodePort: 30084, endpoints: [] },
  { name: 'dead', nodePort: 30085, endpoints: [DEAD_POD], targetPort: 9 },
  { name: 'dns', nodePort: 30053, protocol: 'UDP', endpoints: [POD_A, POD_B] },
  { name: 'dns-empty', nodePort: 30054, protocol: 'UDP', endpoints: [] },
  { name: 'web6', nodePort: 30090, spec: { ipFamilies: ['IPv6'] }, endpoints: [POD6_A, POD6_B] },
  { name: 'dns6', nodePort: 30063, protocol: 'UDP', spec: { ipFamilies: ['IPv6'] }, endpoints: [POD6_A, POD6_B] },
];

/** The Services of all cases, with their EndpointSlices. */
export const OBJECTS: readonly (Service | EndpointSlice)[] = CASES.flatMap((one, i) => {
  const { name, nodePort, protocol = 'TCP', spec = {}, endpoints, targetPort = 8080 } = one;
  const isV6 = spec.ipFamilies?.[0] === 'IPv6';
  const clusterIP = isV6 ? `fd00:10:96::1:${i + 1}` : `10.96.1.${i + 1}`;
  const ports = [{ name: 'p', protocol, port: 80, nodePort }];
  return [
    service(name, { type: 'NodePort', externalTrafficPolicy: 'Cluster', ...spec, clusterIP, ports }),
    slice(`${name}-1`, endpoints, {
      addressType: isV6 ? 'IPv6' : 'IPv4',
      ports: [{ name: 'p', protocol, port: targetPort }],
    }),
  ];
});

/** What to list in `nodePortAddresses`, and whether the feature gate is on. */
export const CONFIGURATIONS = {
  'loopback is listed': { gate: true, nodePortAddresses: ['127.0.0.0/8', '::1/128'] },
  'loopback and the node are listed': {
    gate: true,
    nodePortAddresses: ['127.0.0.0/8', '::1/128', `${NODE_IP}/32`, `${NODE_IP6}/128`],
  },
  'only IPv4 loopback is listed': { gate: true, nodePortAddresses: ['127.0.0.1/32'] },
  'all addresses and loopback are listed': { gate: true, nodePortAddresses: ['0.0.0.0/0', '::/0', '127.0.0.0/8'] },
  'all addresses are listed': { gate: true, nodePortAddresses: ['0.0.0.0/0', '::/0'] },
  'the gate is off': { gate: false, nodePortAddresses: ['127.0.0.0/8', '::1/128'] },
} as const;

export type ConfigurationName = keyof typeof CONFIGURATIONS;

/** Asks every node port at loopback addresses and at the node's address. Returns `dns UDP 127.0.0.1: refused` and so on. */
export async function askAll(namespace: NetworkNamespace): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { name, nodePort, protocol = 'TCP', spec } of CASES) {
    const isV6 = spec?.ipFamilies?.[0] === 'IPv6';
    // The node does not reach pods of other nodes in this test, so policies show at loopback addresses only.
    const node = spec?.externalTrafficPolicy === 'Local' ? [] : [isV6 ? NODE_IP6 : NODE_IP];
    for (const ip of [...(isV6 ? ['::1'] : ['127.0.0.1', '127.0.0.2']), ...node]) {
      // With 12 tries, one run in 60 missed one of two pods somewhere. With 32 it is one in many millions.
      // For a rejected IPv6 connection, the caller may learn of it only when it sends its first packet again.
      const { answers, failures } = await probe(namespace, ip as Ip, nodePort, protocol, {
        tries: 32,
        timeoutMs: 3000,
      });
      const pods = [...new Set(Array.from(answers.keys(), answer => answer.split(' ')[0] ?? ''))].sort();
      // Affinity means that one pod answers. Which one is a matter of chance.
      const who = name === 'sticky' && pods.length === 1 ? ['one pod'] : pods;
      lines.push(`${name} ${protocol} ${ip}: ${[...who, ...failures].join(' ')}`);
    }
  }
  return lines;
}
