import { EchoServer } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { parseNodePortAddresses, selectNodePortIPs } from '../../src/model/index.ts';
import type { ModeSettings } from '../../src/modes/mode.ts';
import { NftablesMode, type NftablesModeOptions } from '../../src/modes/nftables/mode.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { detectorFor, ModeHarness } from './mode-harness.ts';
import { createNodeNamespace, loopbackOf, NODE_IP, NODE_IP6, withRoutes } from './namespaces.ts';

/** Lists loopback for both families. */
export const LOOPBACK = ['127.0.0.0/8', '::1/128'];

type ModeOptions = Partial<Omit<NftablesModeOptions, 'namespace' | 'events'>>;

/** nftables mode for one family on a node whose pods are addresses of the node itself. */
export class LocalhostNode {
  readonly namespace: NetworkNamespace = createNodeNamespace();
  readonly #closing: (() => unknown)[] = [];

  /** Adds a pod that answers at TCP and UDP port 8080 with its address. */
  async addPod(ip: string): Promise<void> {
    this.addAddress(ip);
    for (const protocol of ['TCP', 'UDP'] as const) {
      const server = await EchoServer.start(this.namespace, ip as Ip, 8080, protocol);
      this.#closing.push(() => server.close());
    }
  }

  addAddress(ip: string): void {
    const address = { ip: ip as Ip, prefix: ip.includes(':') ? 128 : 32, nodad: true };
    withRoutes(this.namespace, route => route.addAddress(loopbackOf(route), address));
  }

  /** A mode with the feature gate on, unless the options say otherwise. */
  start(family: Family = 'IPv4', addresses: readonly string[] = LOOPBACK, options: ModeOptions = {}) {
    const { namespace } = this;
    const mode = new ModeHarness(
      events => new NftablesMode({ namespace, events, localhostNodePorts: true, ...options }),
      { families: [family], settings: { localDetector: detectorFor(family), ...nodePorts(family, addresses) } },
    );
    this.#closing.push(() => mode.close());
    return mode;
  }

  onClose(close: () => unknown): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
    this.namespace.close();
  }
}

/** The settings that follow from `nodePortAddresses`. */
export function nodePorts(family: Family, addresses: readonly string[]): Partial<ModeSettings> {
  const nodePortAddresses = parseNodePortAddresses(family, addresses);
  const own = [NODE_IP, NODE_IP6, '127.0.0.1' as Ip, '::1' as Ip];
  const nodePortIPs = nodePortAddresses.matchAll ? [] : selectNodePortIPs(nodePortAddresses, own);
  return { nodePortAddresses, nodePortIPs };
}

/** Runs the work with a node, and closes the node also if the work fails. */
export async function withLocalhostNode(work: (node: LocalhostNode) => Promise<void>): Promise<void> {
  const node = new LocalhostNode();
  try {
    await work(node);
  } finally {
    await node.close();
  }
}
