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
  return elements.flatMap(({ key, counter }) => {
    const protocol = PROTOCOLS.find(name => dataBytes(set.type, [name.toLowerCase()]).equals(key));
    return protocol ? [{ family, protocol, packets: Number(counter?.packets ?? 0n) }] : [];
  });
}
