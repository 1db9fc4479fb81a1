import { closeSync, mkdirSync, openSync, rmdirSync, writeFileSync } from 'node:fs';
import { Machine } from '../../src/demo/playground/machine.ts';
import { hierarchyFolder } from '../../src/kernel/bpf/cgroup.ts';
import { CtMessage } from '../../src/kernel/conntrack/attributes.ts';
import { nfgenmsg } from '../../src/kernel/conntrack/family.ts';
import { NetlinkSocket, Protocol, sendRequests } from '../../src/kernel/netlink/index.ts';
import { type Cidr, hostCidr, type Ip, parseCidr } from '../../src/net/index.ts';
import { POD_RANGE, SERVICE_RANGE } from './cluster.ts';

const NODE_IP = '192.168.0.2' as Ip;
/** The node's address at the links of its pods. */
const GATEWAY = '10.250.0.1' as Ip;
export const CLIENT_IP = '10.250.0.10' as Ip;
export const SERVER_IP = '10.250.0.11' as Ip;

/**
 * A node with two pods, out of network namespaces. The node routes each packet between them, as most network plug-ins do.
 *
 *     client 10.250.0.10 ─ node 10.250.0.1, 192.168.0.2 ─ server 10.250.0.11
 */
export class EbpfLab {
  readonly node = Machine.create();
  readonly client = Machine.create();
  readonly server = Machine.create();
  readonly #conntrack = NetlinkSocket.open(Protocol.NETFILTER, { namespace: this.node.namespace });

  /** Labs that run at the same time and share an API server have different addresses. */
  constructor(nodeIp = NODE_IP) {
    const lo = this.node.link('lo');
    this.node.addAddress(lo, nodeIp, 32);
    this.node.set('net/ipv4/ip_forward', 1);
    this.#addPod('client', this.client, CLIENT_IP);
    this.#addPod('server', this.server, SERVER_IP);
    // Packets for Services need any route before the rules change their destination.
    this.node.route.addRoute({ destination: cidr(SERVICE_RANGE), dev: this.node.link('server'), src: nodeIp });
    // Endpoints that only fill the tables do not exist.
    this.node.route.addRoute({ destination: cidr(POD_RANGE), type: 'unreachable' });
  }

  #addPod(name: string, pod: Machine, ip: Ip): void {
    const link = this.node.route.addLink({
      kind: 'veth',
      name,
      peer: { name: 'eth0', namespace: pod.namespace },
    });
    this.node.addAddress(link, GATEWAY, 32);
    this.node.route.setLink(link, { up: true });
    const eth0 = pod.link('eth0');
    pod.addAddress(eth0, ip, 32);
    pod.route.setLink(eth0, { up: true });
    this.node.awaitLink(name);
    pod.awaitLink('eth0');
    pod.route.addRoute({ destination: hostCidr(GATEWAY), dev: eth0 });
    pod.addDefaultRoute('IPv4', GATEWAY);
    this.node.route.addRoute({ destination: hostCidr(ip), dev: link });
  }

  /** Forgets all connections, so that each slice begins with the same table. */
  async emptyConntrack(): Promise<void> {
    await sendRequests(this.#conntrack, [
      {
        operation: 'conntrack -F',
        type: CtMessage.DELETE,
        flags: 0,
        write: writer => void writer.struct(nfgenmsg(undefined)),
      },
    ]);
  }

  close(): void {
    this.#conntrack.close();
    for (const machine of [this.client, this.server, this.node]) machine.close();
  }
}

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed) throw new Error(`${text} is no network`);
  return parsed;
}

/** No folder, so that the mode pins nothing that would stay after the bench. */
export const NO_BPFFS = '/nowhere';

/** A control group of the bench's own. Only processes that `take` moved are in it. */
export class BenchGroup {
  readonly path: string;
  /** A descriptor of the folder. */
  readonly fd: number;
  readonly #home: string;

  constructor() {
    const root = hierarchyFolder();
    if (root === undefined) throw new Error('no cgroup2 file system is mounted');
    this.#home = root;
    this.path = `${root}/pointsman-bench-${process.pid}`;
    mkdirSync(this.path);
    this.fd = openSync(this.path, 'r');
  }

  take(pid: number): void {
    writeFileSync(`${this.path}/cgroup.procs`, String(pid));
  }

  /** Moves a process to the root of the hierarchy, where the bench attaches nothing. */
  release(pid: number): void {
    writeFileSync(`${this.#home}/cgroup.procs`, String(pid));
  }

  /** No process may be in the group any more. */
  close(): void {
    rmdirSync(this.path);
    closeSync(this.fd);
  }
}
