import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { LinkRef } from '../../kernel/rtnetlink/index.ts';
import { familyOf, type Ip } from '../../net/index.ts';
import { type HostName, LAN_PREFIX, podGateway } from './addresses.ts';
import { Machine } from './machine.ts';
import { buildMachines, type Machines, POD_BRIDGE } from './machines.ts';
import { placementOf } from './placement.ts';

const ONE_ADDRESS = { IPv4: 32, IPv6: 128 } as const;

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
 */
export class Cluster {
  readonly #machines: Machines;
  readonly #pods = new Map<Ip, Pod>();
  readonly #remotePods = new Map<Ip, HostName>();
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
  addPod(ip: Ip): NetworkNamespace {
    const placement = placementOf(ip);
    switch (placement.kind) {
      case 'node':
        return this.node;
      case 'host':
        return this.host(placement.host);
      case 'remote-pod':
        return this.#addRemotePod(ip, placement.host);
      case 'pod':
        return this.#addPod(ip);
    }
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
      this.#remotePods.set(ip, name);
    }
    return host.namespace;
  }

  #addPod(ip: Ip): NetworkNamespace {
    const known = this.#pods.get(ip);
    if (known) return known.machine.namespace;
    const machine = Machine.create();
    try {
      this.#pods.set(ip, { machine, port: this.#connect(machine, ip) });
      return machine.namespace;
    } catch (error) {
      machine.close();
      throw error;
    }
  }

  #connect(pod: Machine, ip: Ip): LinkRef {
    const { node } = this.#machines;
    const peer = { name: 'eth0', namespace: pod.namespace };
    const port = node.route.addLink({ kind: 'veth', name: `v${++this.#ports}`, peer });
    const bridge = node.link(POD_BRIDGE);
    node.route.setLink(port, { master: bridge, up: true });
    // The bridge must send a pod its own packets back: a pod may reach itself through a Service.
    node.route.setLink(port, { hairpin: true });
    const eth0 = pod.link('eth0');
    pod.route.setLink(eth0, { up: true });
    pod.addAddress(eth0, ip, LAN_PREFIX[familyOf(ip)]);
    pod.addDefaultRoute(familyOf(ip), podGateway(familyOf(ip)));
    node.awaitLink(port.name);
    pod.awaitLink(eth0.name);
    // The bridge comes up with its first port.
    node.awaitLink(POD_BRIDGE);
    node.awaitAddresses(bridge);
    pod.awaitAddresses(eth0);
    return port;
  }
}
