import type { NftablesSocket } from '../../../kernel/nftables/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import { type Layout, TABLE } from '../table/layout.ts';

/**
 * Reads what the kernel counted, one frontend after another. The kernel breaks the listing off with KERNEL_INTERRUPTED
 * if any program changes the ruleset.
 */
export async function* readConnections(socket: NftablesSocket, layout: Layout): AsyncGenerator<FrontendConnections> {
  const { family, nft, serviceConnections, nodePortConnections } = layout;
  for (const set of [serviceConnections, nodePortConnections]) {
    if (!set) continue;
    for await (const { comment, counter } of socket.streamElements(nft, TABLE, set)) {
      if (comment === undefined) continue;
      // The kernel keeps the name of the service port as the element's comment.
      const [service = '', port = ''] = comment.split(':');
      yield { family, service, port, connections: Number(counter?.packets ?? 0n) };
    }
  }
}
