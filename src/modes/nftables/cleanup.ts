import type { NetworkNamespace } from '../../kernel/netns.ts';
import { NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import { layoutOf, TABLE } from './layout.ts';

/** Removes all that the mode made, in both families, and nothing else. */
export async function cleanupNftables(namespace?: NetworkNamespace): Promise<Cleanup> {
  const report = new CleanupReport();
  const socket = NftablesSocket.open({ namespace });
  try {
    for (const family of FAMILIES) {
      const { nft } = layoutOf(family);
      await report.attempt(async () => {
        const isThere = [...socket.listTables(nft)].some(({ name }) => name === TABLE);
        if (!isThere) return undefined;
        await socket.commit(new Transaction(nft, TABLE).delete({ kind: 'table', family: nft, name: TABLE }));
        return `table ${nft} ${TABLE}`;
      });
    }
    return report;
  } finally {
    socket.close();
  }
}
