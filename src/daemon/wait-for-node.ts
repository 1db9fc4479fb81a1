import type { Node } from '../api/index.ts';
import { rawNodeIPs } from '../model/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import type { OwnNode } from './own-node.ts';
import { StartupError } from './startup-error.ts';

const IPS_MS = 30_000;
const POD_CIDRS_MS = 300_000;

/**
 * Waits until the Node has addresses and, where pods are told apart by them, pod CIDRs. Without addresses the proxy
 * works with what it can find out itself; without pod CIDRs it cannot start.
 */
export async function waitForNode(own: OwnNode, name: string, needsPodCIDRs: boolean, log: Logger): Promise<void> {
  const until = (what: string, has: (node: Node) => boolean, ms: number) => {
    const isThere = own.node !== undefined && has(own.node);
    if (!isThere) log.info('server', `Waiting for the Node to have ${what}`, { node: name, atMost: `${ms / 1000}s` });
    return own.until(has, ms);
  };
  const hasIPs = await until('addresses', node => rawNodeIPs(node).length > 0, IPS_MS);
  const hasPodCIDRs = !needsPodCIDRs || (await until('PodCIDRs', ({ podCIDRs }) => podCIDRs.length > 0, POD_CIDRS_MS));
  if (!hasPodCIDRs) {
    throw new StartupError(
      own.node
        ? `timeout waiting for PodCIDR allocation on node ${JSON.stringify(name)}`
        : `timeout waiting for node ${JSON.stringify(name)} to exist`,
    );
  }
  if (hasIPs) {
    log.info('server', 'Successfully retrieved NodeIPs', { NodeIPs: rawNodeIPs(own.node) });
  } else {
    const err = own.node
      ? `host IP unknown for node ${JSON.stringify(name)}`
      : `node ${JSON.stringify(name)} not found`;
    log.error('server', 'Failed to retrieve NodeIPs', { err });
  }
}
