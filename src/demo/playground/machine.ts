import { KernelError } from '../../kernel/errors.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { LinkFlag, type LinkRef, RouteSocket, RouteTable, Scope } from '../../kernel/rtnetlink/index.ts';
import { writeSysctl } from '../../kernel/sysctl.ts';
import { type Family, familyOf, type Ip } from '../../net/index.ts';
import { DEFAULT_NETWORK } from './addresses.ts';

const SETTINGS: readonly [sysctl: string, value: number][] = [
  // The kernel would look for duplicates of a link-local address for a second or two. Until then a machine that
  // forwards cannot find IPv6 neighbours.
  ['net/ipv6/conf/default/accept_dad', 0],
  // The node sends packets that no proxy handles to ext, its gateway, and notifies the sender with an ICMP redirect.
  // The sender would then send to ext directly, even after a proxy handles such packets.
  ['net/ipv4/conf/all/accept_redirects', 0],
  ['net/ipv4/conf/default/accept_redirects', 0],
  ['net/ipv6/conf/default/accept_redirects', 0],
  // If a masqueraded port is used again after a moment, the kernel would take the new connection for a stray packet of
  // the former one, and the connection would wait for a second.
  ['net/ipv4/tcp_max_tw_buckets', 0],
];

/** How long the kernel may take for work that it does in the background. */
const TIMEOUT_MS = 5000;

/** A network namespace that plays a computer. */
export class Machine {
  readonly namespace: NetworkNamespace;
  readonly route: RouteSocket;

  private constructor(namespace: NetworkNamespace) {
    this.namespace = namespace;
    this.route = RouteSocket.open({ namespace });
  }

  static create(): Machine {
    const machine = new Machine(NetworkNamespace.create());
    try {
      for (const [sysctl, value] of SETTINGS) machine.set(sysctl, value);
      machine.route.setLink(machine.link('lo'), { up: true });
      return machine;
    } catch (error) {
      machine.close();
      throw error;
    }
  }

  link(name: string): LinkRef {
    const link = this.route.link(name);
    if (!link) throw new RangeError(`no link ${name}`);
    return link;
  }

  addAddress(link: LinkRef, ip: Ip, prefix: number): void {
    this.route.addAddress(link, { ip, prefix, nodad: familyOf(ip) === 'IPv6' });
  }

  addDefaultRoute(family: Family, via: Ip): void {
    this.route.addRoute({ destination: DEFAULT_NETWORK[family], via });
  }

  /**
   * Waits until the link can send and receive. The kernel notices some moments late that the other end came up, and
   * loses packets until then.
   */
  awaitLink(name: string): void {
    waitUntil(`ip link set ${name} up`, () => ((this.route.link(name)?.flags ?? 0) & LinkFlag.RUNNING) !== 0);
  }

  /**
   * Waits until the link's IPv6 addresses are in use. In the background, the kernel adds their routes and starts to
   * answer neighbour solicitations. A machine that forwards sends neighbour solicitations from its link-local address.
   */
  awaitAddresses(link: LinkRef, { linkLocal = true } = {}): void {
    waitUntil(`ip -6 addr show dev ${link.name}`, () => {
      const addresses = this.route.addresses({ family: 'IPv6', link });
      const routes = this.route.routes({ family: 'IPv6', table: RouteTable.LOCAL });
      const local = new Set(
        routes.filter(({ type }) => type === 'local').map(({ destination }) => destination.address),
      );
      const hasLinkLocal = !linkLocal || addresses.some(({ scope }) => scope === Scope.LINK);
      return hasLinkLocal && addresses.every(({ ip }) => local.has(ip));
    });
  }

  set(sysctl: string, value: number): void {
    writeSysctl(sysctl, value, this.namespace);
  }

  /** Not every kernel has every sysctl, or has it in each namespace. */
  setIfExists(sysctl: string, value: number): void {
    try {
      this.set(sysctl, value);
    } catch (error) {
      if (!(error instanceof KernelError) || error.errno !== 'ENOENT') throw error;
    }
  }

  /** The kernel must not limit the rate of rejects. A connection that it does not answer looks like a lost packet. */
  answerAllRejects(): void {
    this.set('net/ipv4/icmp_ratelimit', 0);
    this.set('net/ipv6/icmp/ratelimit', 0);
    this.setIfExists('net/ipv4/icmp_msgs_per_sec', 100_000);
    this.setIfExists('net/ipv4/icmp_msgs_burst', 100_000);
  }

  close(): void {
    this.route.close();
    this.namespace.close();
  }
}

/** Blocks the process until `isDone` returns true: building a cluster is synchronous. */
function waitUntil(operation: string, isDone: () => boolean): void {
  const end = performance.now() + TIMEOUT_MS;
  while (!isDone()) {
    if (performance.now() > end) {
      throw new KernelError('KERNEL_SOCKET', { operation, reason: `not done after ${TIMEOUT_MS / 1000} s` });
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}
