import type { Protocol } from '../../../api/index.ts';
import { uninterrupted } from '../../../kernel/netlink/index.ts';
import { dataBytes, type NftablesSocket } from '../../../kernel/nftables/index.ts';
import { type Layout, TABLE } from '../table/layout.ts';

/** What was rejected at node ports of loopback addresses, since the table exists. */
export interface RejectedPackets {
  readonly family: Layout['family'];
  readonly protocol: Protocol;
  readonly packets: number;
}

const PROTOCOLS: readonly Protocol[] = ['TCP', 'UDP', 'SCTP'];

export async function readRejectedPackets(socket: NftablesSocket, layout: Layout): Promise<readonly RejectedPackets[]> {
  const { family, nft, localhostRejectedPackets: set } = layout;
  if (!set) return [];
  const elements = await uninterrupted(() => [...socket.listElements(nft, TABLE, set)]);
  return PROTOCOLS.map(protocol => {
    const found = elements.find(({ key }) => dataBytes(set.type, [protocol.toLowerCase()]).equals(key));
    return { family, protocol, packets: Number(found?.counter?.packets ?? 0n) };
  });
}
