import { namespaceCookie } from '../../src/kernel/netns.ts';
import type { Endpoint } from '../../src/modes/ebpf/programs/index.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { type ProgrammedOptions, ProgrammedSockets } from './programmed-sockets.ts';
import { TestNetwork } from './test-socket.ts';

const ENDPOINT_PORT = 8080;

/** The endpoints of the lab. All its networks have them, with listeners. */
export const ENDPOINTS: Readonly<Record<Family, readonly Endpoint[]>> = {
  IPv4: [11, 12, 13, 14].map(n => ({ ip: `10.244.1.${n}` as Ip, port: ENDPOINT_PORT })),
  IPv6: [11, 12, 13, 14].map(n => ({ ip: `fd00:244::${n}` as Ip, port: ENDPOINT_PORT })),
};

/** What a socket gets that the programs leave alone: the lab's networks have no route to Services. */
export const LEFT_ALONE = 'ENETUNREACH';

export interface SocketLab {
  readonly sockets: ProgrammedSockets;
  /** The node's own network. */
  readonly node: TestNetwork;
  readonly pod: TestNetwork;
  readonly otherPod: TestNetwork;
}

/** Runs the work with networks of a node and two pods, whose sockets the programs serve. */
export async function withSocketLab(
  work: (lab: SocketLab) => void | Promise<void>,
  options: ProgrammedOptions = {},
): Promise<void> {
  const open: { close(): void }[] = [];
  const ips = [...ENDPOINTS.IPv4, ...ENDPOINTS.IPv6].map(({ ip }) => ip);
  try {
    const network = () => {
      const network = new TestNetwork(ips, ENDPOINT_PORT);
      open.push(network);
      return network;
    };
    const [node, pod, otherPod] = [network(), network(), network()];
    const serves = [node, pod, otherPod].map(({ namespace }) => namespace);
    const sockets = new ProgrammedSockets({ serves, nodeCookie: namespaceCookie(node.namespace), ...options });
    open.push(sockets);
    await work({ sockets, node, pod, otherPod });
  } finally {
    for (const resource of open) resource.close();
  }
}
