import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { LinkRef } from '../../kernel/rtnetlink/index.ts';
import { cidrContains, familyOf, hostCidr, type Ip } from '../../net/index.ts';
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
import { buildMachines, type Machines, POD_BRIDGE } from './machines.ts';
import { type Placement, placementOf } from './placement.ts';

const ONE_ADDRESS = { IPv4: 32, IPv6: 128 } as const;

export interface PodOptions {
  /**
   * The pod sends to its neighbours through the node, too. Without this, the answers of neighbours take the short way
   * over the bridge and bypass the node's netfilter, unless the kernel module br_netfilter is loaded. Few machines load
   * it. A pod whose address is not in the usual network needs this.
   */
  readonly sendsThroughNode?: boolean;
}

interface Pod {
  readonly machine: Machine;
  /** The node's end of the pod's link. */
  readonly port: LinkRef;
}

/**
 * A small cluster of network namespaces, to send real packets through a proxy.
 *
 *     ext         192.168.0.100 ─┐
 *     other-node  192.168.0.3   ─┤ lan (a bridge) ─ 192.168.0.2 node ─ 10.244.1.1 cni0 ─ a namespace for each pod
 *     third-node  192.168.0.4   ─┘
 *
 * The pods of the other nodes, 10.244.2.* and 10.244.3.*, are addresses of those nodes. ext has no route to pods, so a
 * reply that does not come back through the node is lost, as in a real cluster. The namespaces have no names, so they
 * disappear with the process.
 *
 * Pods and Services may have any other addresses: each such address gets routes of its own.
 */
export class Cluster {
  readonly #machines: Machines;
  readonly #pods = new Map<Ip, Pod>();
  readonly #remotePods = new Map<Ip, HostName>();
  /** The machines, and the addresses that they send to the node although they are in no usual network. */
  readonly #routesToNode = new Set<string>();
  #ports = 0;

  private constructor(machines: Machines) {
    this.#machines = machines;
  }

  static create(): Cluster {
    return new Cluster(buildMachines());
  }

  /** The node that a proxy runs on. */
  get node(): NetworkNamespace {
    return this.#machines.node.namespace;
  }

  host(name: HostName): NetworkNamespace {
    return this.#machines.hosts[name].namespace;
  }

  /** Returns the namespace that has this endpoint's address. Creates a namespace for each pod of the node. */
  addPod(ip: Ip, placement: Placement = placementOf(ip), options: PodOptions = {}): NetworkNamespace {
    switch (placement.kind) {
      case 'node':
        return this.node;
      case 'host':
        return this.host(placement.host);
      case 'remote-pod':
        return this.#addRemotePod(ip, placement.host);
      case 'pod':
        return this.#addPod(ip, options);
    }
  }

  /** Makes the machines outside send packets for this address of a Service to the node. */
  routeService(ip: Ip): void {
    if (SERVICE_NETWORKS.some(network => cidrContains(network, ip))) return;
    for (const { name, usesServices } of HOSTS) if (usesServices) this.#routeToNode(name, ip);
  }

  /** Gives the node one more address, which all machines reach. Throws a RangeError if another machine has it. */
  addNodeAddress(ip: Ip): void {
    if (HOSTS.some(({ number }) => lanIp(familyOf(ip), number) === ip)) {
      throw new RangeError('another machine of the cluster has this address');
    }
    const { node } = this.#machines;
    const eth0 = node.link('eth0');
    node.addAddress(eth0, ip, ONE_ADDRESS[familyOf(ip)]);
    node.awaitAddresses(eth0);
    for (const { name } of HOSTS) this.#routeToNode(name, ip);
  }

  #routeToNode(name: HostName, ip: Ip): void {
    const key = `${name} ${ip}`;
    if (this.#routesToNode.has(key)) return;
    this.#routesToNode.add(key);
    this.#machines.hosts[name].route.addRoute({ destination: hostCidr(ip), via: lanIp(familyOf(ip), NODE_NUMBER) });
  }

  dropPods(): void {
    for (const { machine, port } of this.#pods.values()) {
      this.#machines.node.route.deleteLink(port);
      machine.close();
    }
    this.#pods.clear();
    for (const [ip, name] of this.#remotePods) {
      const host = this.#machines.hosts[name];
      host.route.deleteAddress(host.link('lo'), { ip, prefix: ONE_ADDRESS[familyOf(ip)] });
    }
    this.#remotePods.clear();
  }

  close(): void {
    for (const { machine } of this.#pods.values()) machine.close();
    for (const machine of this.#machines.all) machine.close();
  }

  #addRemotePod(ip: Ip, name: HostName): NetworkNamespace {
    const host = this.#machines.hosts[name];
    if (!this.#remotePods.has(ip)) {
      const lo = host.link('lo');
      host.addAddress(lo, ip, ONE_ADDRESS[familyOf(ip)]);
      host.awaitAddresses(lo, { linkLocal: false });
      this.#routeToRemotePod(ip, name);
      this.#remotePods.set(ip, name);
    }
    return host.namespace;
  }

  #routeToRemotePod(ip: Ip, name: HostName): void {
    const { number, podRange } = HOSTS.find(host => host.name === name) ?? {};
    if (number === undefined || (podRange !== undefined && isInPodRange(ip, podRange))) return;
    this.#machines.node.route.addRoute({ destination: hostCidr(ip), via: lanIp(familyOf(ip), number) });
  }

  #addPod(ip: Ip, options: PodOptions): NetworkNamespace {
    const known = this.#pods.get(ip);
    if (known) return known.machine.namespace;
    const machine = Machine.create();
    try {
      this.#pods.set(ip, { machine, port: this.#connect(machine, ip, options) });
      return machine.namespace;
    } catch (error) {
      machine.close();
      throw error;
    }
  }

  #connect(pod: Machine, ip: Ip, { sendsThroughNode = false }: PodOptions): LinkRef {
    const { node } = this.#machines;
    const family = familyOf(ip);
    const peer = { name: 'eth0', namespace: pod.namespace };
    const port = node.route.addLink({ kind: 'veth', name: `v${++this.#ports}`, peer });
    const bridge = node.link(POD_BRIDGE);
    node.route.setLink(port, { master: bridge, up: true });
    // The bridge must send a pod its own packets back: a pod may reach itself through a Service.
    node.route.setLink(port, { hairpin: true });
    const eth0 = pod.link('eth0');
    pod.route.setLink(eth0, { up: true });
    pod.addAddress(eth0, ip, sendsThroughNode ? ONE_ADDRESS[family] : LAN_PREFIX[family]);
    if (sendsThroughNode) pod.route.addRoute({ destination: hostCidr(podGateway(family)), dev: eth0 });
    pod.addDefaultRoute(family, podGateway(family));
    if (!isInPodRange(ip, NODE_POD_RANGE)) this.#routeToPod(ip, bridge);
    node.awaitLink(port.name);
    pod.awaitLink(eth0.name);
    // The bridge comes up with its first port.
    node.awaitLink(POD_BRIDGE);
    node.awaitAddresses(bridge);
    pod.awaitAddresses(eth0);
    return port;
  }

  #routeToPod(ip: Ip, bridge: LinkRef): void {
    this.#machines.node.route.addRoute({ destination: hostCidr(ip), dev: bridge });
    for (const { name, podRange } of HOSTS) if (podRange !== undefined) this.#routeToNode(name, ip);
  }
}

function isInPodRange(ip: Ip, range: number): boolean {
  return cidrContains(podNetwork(familyOf(ip), range), ip);
}
