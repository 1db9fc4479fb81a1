import type { NftablesSocket } from '../../kernel/nftables/index.ts';
import type { FrontendConnections } from '../mode.ts';
import { type Layout, TABLE } from './layout.ts';

/**
 * What the kernel counted, one frontend after another. Breaks off with KERNEL_INTERRUPTED if anything in the ruleset
 * changes meanwhile.
 */
export async function* readConnections(socket: NftablesSocket, layout: Layout): AsyncGenerator<FrontendConnections> {
  const { family, nft, serviceConnections, nodePortConnections } = layout;
  for (const set of [serviceConnections, nodePortConnections]) {
    if (!set) continue;
    for await (const { comment, counter } of socket.streamElements(nft, TABLE, set)) {
      if (comment !== undefined) {
        yield { family, servicePort: comment, connections: Number(counter?.packets ?? 0n) };
      }
    }
  }
}
