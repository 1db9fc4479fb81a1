import { writeFileSync } from 'node:fs';
import { NetworkNamespace } from '../../../src/kernel/netns.ts';
import { CONTROL_PLANE, GATEWAY, type Host, NODES, OUTSIDE_IP } from './addresses.ts';
import { run } from './run.ts';

/**
 * The network of the cluster: a namespace for each host, and one with the switch between them. The machine's own
 * network is not touched. The namespaces vanish with this process and the processes in them.
 */
export class ClusterNetwork {
  readonly #switch = NetworkNamespace.create();
  readonly #namespaces = new Map<string, NetworkNamespace>();

  constructor() {
    ip(this.#switch, ['link add br0 type bridge', 'link set br0 up', `addr add ${GATEWAY.v4}/24 dev br0`]);
    for (const host of [CONTROL_PLANE, ...NODES]) this.#add(host);
    ip(this.of(CONTROL_PLANE), [`addr add ${OUTSIDE_IP}/32 dev lo`]);
    for (const node of NODES) ip(this.of(node), [`route replace ${OUTSIDE_IP}/32 via ${CONTROL_PLANE.v4}`]);
    // Connections through load balancers are spread by their ports, too.
    setSysctls(this.of(CONTROL_PLANE), { 'ipv4/fib_multipath_hash_policy': '1' });
  }

  of(host: Host): NetworkNamespace {
    const found = this.#namespaces.get(host.name);
    if (!found) throw new Error(`There is no host ${host.name}`);
    return found;
  }

  /** A command line that runs a command in the network of the host. */
  inside(host: Host, command: readonly string[]): readonly string[] {
    return ['nsenter', `--net=${this.of(host).path}`, '--', ...command];
  }

  /** Every other host learns the way to the pods of a node. */
  routeToPods(node: Host, ranges: readonly string[]): void {
    for (const other of [CONTROL_PLANE, ...NODES]) {
      if (other.name === node.name) continue;
      const lines = ranges.map(range => `route replace ${range} via ${range.includes(':') ? node.v6 : node.v4}`);
      ip(this.of(other), lines);
    }
  }

  close(): void {
    for (const namespace of [this.#switch, ...this.#namespaces.values()]) namespace.close();
  }

  #add(host: Host): void {
    const namespace = NetworkNamespace.create();
    this.#namespaces.set(host.name, namespace);
    ip(namespace, [`link add eth0 type veth peer name ${host.name} netns ${this.#switch.path}`]);
    ip(this.#switch, [`link set dev ${host.name} master br0 up`]);
    ip(namespace, [
      ...['link set lo up', 'link set eth0 up'],
      ...[`addr add ${host.v4}/24 dev eth0`, `addr add ${host.v6}/64 dev eth0 nodad`],
      // Without a way out, connections to addresses that only the proxy knows fail before its rules see them.
      ...[`route replace default via ${GATEWAY.v4}`, `route replace default via ${GATEWAY.v6}`],
    ]);
    setSysctls(namespace, { 'ipv4/ip_forward': '1', 'ipv6/conf/all/forwarding': '1', 'ipv4/conf/all/rp_filter': '0' });
  }
}

function ip(namespace: NetworkNamespace, lines: readonly string[]): void {
  namespace.run(() => run('ip', ['-batch', '-'], { input: `${lines.join('\n')}\n` }));
}

function setSysctls(namespace: NetworkNamespace, values: Readonly<Record<string, string>>): void {
  namespace.run(() => {
    for (const [name, value] of Object.entries(values)) writeFileSync(`/proc/sys/net/${name}`, value);
  });
}
