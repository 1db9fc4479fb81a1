import { KernelError } from '../kernel/errors.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { LinkFlag, type LinkRef, RouteSocket } from '../kernel/rtnetlink/index.ts';
import { writeSysctl } from '../kernel/sysctl.ts';
import { type Family, familyOf, type Ip } from '../net/index.ts';
import { DEFAULT_NETWORK } from './addresses.ts';

/** How long a link may take until it can send. */
const LINK_MS = 2000;

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
    // Until a link-local address is known to have no duplicate, nobody's IPv6 neighbours are asked for, for a second or two.
    machine.set('net/ipv6/conf/default/accept_dad', 0);
    machine.route.setLink(machine.link('lo'), { up: true });
    return machine;
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
   * Waits until the link can send. It cannot before the kernel has noticed, some moments after the other end came up;
   * what is sent meanwhile is lost.
   */
  awaitLink(name: string): void {
    const end = performance.now() + LINK_MS;
    while (!((this.route.link(name)?.flags ?? 0) & LinkFlag.RUNNING)) {
      if (performance.now() > end) {
        throw new KernelError('KERNEL_SOCKET', { operation: `ip link set ${name} up`, kernelMessage: 'it stays down' });
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }

  set(sysctl: string, value: number): void {
    writeSysctl(sysctl, value, this.namespace);
  }

  close(): void {
    this.route.close();
    this.namespace.close();
  }
}
