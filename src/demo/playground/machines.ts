import { cidrFamily, FAMILIES } from '../../net/index.ts';
import {
  HOSTS,
  type HostName,
  LAN_PREFIX,
  lanIp,
  NODE_NUMBER,
  NODE_POD_RANGE,
  podGateway,
  podNetwork,
  SERVICE_NETWORKS,
} from './addresses.ts';
import { Machine } from './machine.ts';

/** The node's bridge to its pods. */
export const POD_BRIDGE = 'cni0';

const POD_BRIDGE_ADDRESS = '02:00:0a:f4:01:01';

/** The machines of a cluster, with links between them. */
export interface Machines {
  readonly node: Machine;
  readonly hosts: Readonly<Record<HostName, Machine>>;
  /** All machines, and the switch between them. */
  readonly all: readonly Machine[];
}

export function buildMachines(): Machines {
  const all: Machine[] = [];
  const make = (): Machine => {
    const machine = Machine.create();
    all.push(machine);
    return machine;
  };
  try {
    const node = make();
    const hosts = { 'other-node': make(), 'third-node': make(), ext: make() };
    const lan = make();
    const machines = { node, hosts, all };
    buildLan(lan, machines);
    buildNode(node);
    buildRoutes(machines);
    return machines;
  } catch (error) {
    for (const machine of all) machine.close();
    throw error;
  }
}

function buildLan(lan: Machine, { node, hosts }: Machines): void {
  const bridge = lan.route.addLink({ kind: 'bridge', name: 'br0' });
  lan.route.setLink(bridge, { up: true });
  const others = HOSTS.map(({ name, number }) => ({ machine: hosts[name], number }));
  const members = [{ machine: node, number: NODE_NUMBER }, ...others];
  for (const { machine, number } of members) {
    const peer = { name: 'eth0', namespace: machine.namespace };
    const port = lan.route.addLink({ kind: 'veth', name: portName(number), peer });
    lan.route.setLink(port, { master: bridge, up: true });
    const eth0 = machine.link('eth0');
    for (const family of FAMILIES) machine.addAddress(eth0, lanIp(family, number), LAN_PREFIX[family]);
    machine.route.setLink(eth0, { up: true });
  }
  // The loop waits for all links together, because each takes the kernel some moments.
  for (const { machine, number } of members) {
    lan.awaitLink(portName(number));
    machine.awaitLink('eth0');
    machine.awaitAddresses(machine.link('eth0'));
  }
}

function portName(number: number): string {
  return `p${number}`;
}

function buildNode(node: Machine): void {
  const bridge = node.route.addLink({ kind: 'bridge', name: POD_BRIDGE });
  // A fixed address: without one, a later pod would change the bridge's address, and the other pods would go on sending
  // to the former address.
  node.route.setLink(bridge, { address: POD_BRIDGE_ADDRESS });
  for (const family of FAMILIES) node.addAddress(bridge, podGateway(family), LAN_PREFIX[family]);
  node.route.setLink(bridge, { up: true });
  node.set('net/ipv4/ip_forward', 1);
  node.set('net/ipv6/conf/all/forwarding', 1);
  node.answerAllRejects();
  // With br_netfilter, netfilter also handles packets between two pods of a node.
  node.setIfExists('net/bridge/bridge-nf-call-iptables', 1);
  node.setIfExists('net/bridge/bridge-nf-call-ip6tables', 1);
}

function buildRoutes({ node, hosts }: Machines): void {
  for (const { name, number, podRange, usesServices } of HOSTS) {
    const { route } = hosts[name];
    if (podRange !== undefined) {
      for (const family of FAMILIES) {
        node.route.addRoute({ destination: podNetwork(family, podRange), via: lanIp(family, number) });
        route.addRoute({ destination: podNetwork(family, NODE_POD_RANGE), via: lanIp(family, NODE_NUMBER) });
      }
    }
    if (usesServices) {
      for (const destination of SERVICE_NETWORKS) {
        route.addRoute({ destination, via: lanIp(cidrFamily(destination), NODE_NUMBER) });
      }
    }
    if (name === 'ext') for (const family of FAMILIES) node.addDefaultRoute(family, lanIp(family, number));
  }
}
