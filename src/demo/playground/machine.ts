import { KernelError } from '../../kernel/errors.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { LinkFlag, type LinkRef, RouteSocket, RouteTable, Scope } from '../../kernel/rtnetlink/index.ts';
import { writeSysctl } from '../../kernel/sysctl.ts';
import { type Family, familyOf, type Ip } from '../../net/index.ts';
import { DEFAULT_NETWORK } from './addresses.ts';

const SETTINGS: readonly [sysctl: string, value: number][] = [
  // Links would look for duplicates of their link-local address for a second or two. Until then a machine that forwards
  // cannot ask for IPv6 neighbours.
  ['net/ipv6/conf/default/accept_dad', 0],
  // What no proxy takes care of the node sends to ext, its gateway, and says so to others who sent it: they would send
  // it to ext themselves from then on, even if the proxy takes care of it later.
  ['net/ipv4/conf/all/accept_redirects', 0],
  ['net/ipv4/conf/default/accept_redirects', 0],
  ['net/ipv6/conf/default/accept_redirects', 0],
  // A connection from a masqueraded port that was used a moment ago would be taken for a stray packet of the former one,
  // and wait for a second.
  ['net/ipv4/tcp_max_tw_buckets', 0],
];

/** How long the kernel may take for what it does in the background. */
const PATIENCE_MS = 5000;

/** A network namespace that is used as a computer. */
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
   * Waits until the link can send and receive. It cannot before the kernel has noticed, some moments after the other
   * end came up; what is sent meanwhile is lost.
   */
  awaitLink(name: string): void {
    waitUntil(`ip link set ${name} up`, () => ((this.route.link(name)?.flags ?? 0) & LinkFlag.RUNNING) !== 0);
  }

  /**
   * Waits until the link's IPv6 addresses are in use. The kernel makes their routes, and listens to those who ask for
   * them, in the background. A machine that forwards asks for neighbours from its link-local address.
   */
  awaitAddresses(link: LinkRef, { linkLocal = true } = {}): void {
    waitUntil(`ip -6 addr show dev ${link.name}`, () => {
      const addresses = this.route.addresses({ family: 'IPv6', link });
      const routes = this.route.routes({ family: 'IPv6', table: RouteTable.LOCAL });
      const local = new Set(
        routes.filter(({ type }) => type === 'local').map(({ destination }) => destination.address),
      );
      const complete = !linkLocal || addresses.some(({ scope }) => scope === Scope.LINK);
      return complete && addresses.every(({ ip }) => local.has(ip));
    });
  }

  set(sysctl: string, value: number): void {
    writeSysctl(sysctl, value, this.namespace);
  }

  close(): void {
    this.route.close();
    this.namespace.close();
  }
}

/** Asks again and again, without letting other work run: building a cluster is synchronous. */
function waitUntil(operation: string, isDone: () => boolean): void {
  const end = performance.now() + PATIENCE_MS;
  while (!isDone()) {
    if (performance.now() > end) {
      throw new KernelError('KERNEL_SOCKET', { operation, reason: 'it takes too long' });
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}
