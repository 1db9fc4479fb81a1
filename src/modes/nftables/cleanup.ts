import { uninterrupted } from '../../kernel/netlink/index.ts';
import { NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions } from '../descriptor.ts';
import { layoutOf, TABLE } from './table/layout.ts';

/** Deletes the tables of both families. */
export async function cleanupNftables({ namespace }: CleanupOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const socket = NftablesSocket.open({ namespace });
  try {
    for (const family of FAMILIES) {
      const { nft } = layoutOf(family);
      await report.attempt(`table ${nft} ${TABLE}`, async () => {
        const tables = await uninterrupted(() => [...socket.listTables(nft)]);
        const exists = tables.some(({ name }) => name === TABLE);
        if (!exists) return undefined;
        await socket.commit(new Transaction(nft, TABLE).delete({ kind: 'table', family: nft, name: TABLE }));
        return `table ${nft} ${TABLE}`;
      });
    }
    return report;
  } finally {
    socket.close();
  }
}
