import type { Logger } from '../logging/index.ts';
import { rawNodeIPs } from '../model/index.ts';
import type { OwnNode } from './own-node.ts';
import { StartupError } from './startup-error.ts';

const IPS_MS = 30_000;
const POD_CIDRS_MS = 300_000;

/**
 * Waits until the Node has addresses and, where pods are told apart by them, pod CIDRs. Without addresses the proxy
 * works with what it can find out itself; without pod CIDRs it cannot start.
 */
export async function waitForNode(own: OwnNode, name: string, needsPodCIDRs: boolean, log: Logger): Promise<void> {
  const hasIPs = await own.until(node => rawNodeIPs(node).length > 0, IPS_MS);
  const hasPodCIDRs = !needsPodCIDRs || (await own.until(({ podCIDRs }) => podCIDRs.length > 0, POD_CIDRS_MS));
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
