import type { NetworkNamespace } from '../../kernel/netns.ts';
import { NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { layoutOf, TABLE } from './layout.ts';

/** Removes all that the mode made, in both families, and nothing else. Returns the tables that were there. */
export async function cleanupNftables(namespace?: NetworkNamespace): Promise<readonly string[]> {
  const socket = NftablesSocket.open({ namespace });
  try {
    const removed: string[] = [];
    for (const family of FAMILIES) {
      const { nft } = layoutOf(family);
      const table = [...socket.listTables(nft)].find(({ name }) => name === TABLE);
      if (!table) continue;
      await socket.commit(new Transaction(nft, TABLE).delete({ kind: 'table', family: nft, name: TABLE }));
      removed.push(`${nft} ${TABLE}`);
    }
    return removed;
  } finally {
    socket.close();
  }
}
