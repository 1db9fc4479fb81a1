import { once } from 'node:events';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { RouteSocket } from '../../src/kernel/rtnetlink/index.ts';
import { bindUdp, connectUdp } from '../../src/kernel/sockets/index.ts';
import { writeSysctl } from '../../src/kernel/sysctl.ts';
import { type Ip, parseCidr } from '../../src/net/index.ts';
import { runNftScript } from './run-in.ts';

export const CLIENT_IP = '10.244.0.5' as Ip;
export const SERVER = { ip: '10.244.1.9' as Ip, port: 5353 };
export const SERVICE = { ip: '10.96.0.10' as Ip, port: 53 };

const SIDES = [
  { link: 'left', router: '10.244.0.1' as Ip, host: CLIENT_IP },
  { link: 'right', router: '10.244.1.1' as Ip, host: SERVER.ip },
];

/** A client and a server, and between them a node that translates the Service's address. Its links: left and right. */
export class RouterLab {
  readonly node: NetworkNamespace;
  readonly #hosts: readonly NetworkNamespace[];
  readonly #server: ReturnType<typeof bindUdp>;

  constructor() {
    this.node = NetworkNamespace.create();
    this.#hosts = SIDES.map(side => connectHost(this.node, side));
    writeSysctl('net/ipv4/ip_forward', 1, this.node);
    const rule = `ip daddr ${SERVICE.ip} udp dport ${SERVICE.port} dnat to ${SERVER.ip}:${SERVER.port}`;
    runNftScript(
      this.node,
      `table ip kube-proxy {\n chain nat {\n type nat hook prerouting priority -100;\n ${rule}\n }\n }\n`,
    );
    const [, host] = this.#hosts;
    if (!host) throw new Error('the lab has no server');
    this.#server = bindUdp(host, SERVER.ip, SERVER.port);
    this.#server.on('message', (data, { port, address }) => this.#server.send(data, port, address));
  }

  /** Whether the Service answers a datagram of the client. Sends it again every now and then. */
  async isAnswered(milliseconds: number): Promise<boolean> {
    const [host] = this.#hosts;
    if (!host) return false;
    const socket = await connectUdp(host, SERVICE.ip, SERVICE.port);
    // A rule that rejects makes the kernel report an error.
    socket.on('error', () => {});
    const send = () => socket.send('hello', () => {});
    const timer = setInterval(send, 500);
    try {
      send();
      await once(socket, 'message', { signal: AbortSignal.timeout(milliseconds) });
      return true;
    } catch {
      return false;
    } finally {
      clearInterval(timer);
      socket.close();
    }
  }

  close(): void {
    this.#server.close();
    for (const namespace of [this.node, ...this.#hosts]) namespace.close();
  }
}

function connectHost(node: NetworkNamespace, { link, router, host }: (typeof SIDES)[number]): NetworkNamespace {
  const namespace = NetworkNamespace.create();
  const inside = RouteSocket.open({ namespace });
  const outside = RouteSocket.open({ namespace: node });
  try {
    const near = outside.addLink({ kind: 'veth', name: link, peer: { name: 'eth0', namespace } });
    outside.setLink(near, { up: true });
    outside.addAddress(near, { ip: router, prefix: 24 });
    const far = inside.link('eth0');
    const all = parseCidr('0.0.0.0/0');
    if (!far || !all) throw new Error('the host has no link');
    inside.setLink(far, { up: true });
    inside.addAddress(far, { ip: host, prefix: 24 });
    inside.addRoute({ destination: all, via: router });
    return namespace;
  } finally {
    inside.close();
    outside.close();
  }
}
