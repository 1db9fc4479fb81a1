import type { NftablesSocket, NftSet } from '../../../kernel/nftables/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import type { ServicePortTraffic } from '../../traffic/index.ts';
import { type Layout, TABLE } from '../table/layout.ts';

/**
 * Reads what the kernel counted, one frontend after another. The kernel breaks the listing off with KERNEL_INTERRUPTED
 * if any program changes the ruleset.
 */
export async function* readConnections(socket: NftablesSocket, layout: Layout): AsyncGenerator<FrontendConnections> {
  for (const set of [layout.serviceConnections, layout.nodePortConnections]) {
    for await (const { packets, ...port } of readCounters(socket, layout, set)) yield { ...port, connections: packets };
  }
}

/** As `readConnections`, with the packets that were rejected or dropped. */
export async function* readTraffic(socket: NftablesSocket, layout: Layout): AsyncGenerator<ServicePortTraffic> {
  // The sets of refusals lack frontends to which that cannot happen: their count is 0.
  for await (const port of readConnections(socket, layout)) yield { ...port, rejected: 0, dropped: 0 };
  for (const set of [layout.serviceRejects, layout.nodePortRejects]) {
    for await (const { packets, ...port } of readCounters(socket, layout, set)) yield { ...port, rejected: packets };
  }
  for (const set of [layout.serviceDrops, layout.nodePortDrops]) {
    for await (const { packets, ...port } of readCounters(socket, layout, set)) yield { ...port, dropped: packets };
  }
}

interface CountedFrontend {
  readonly family: Layout['family'];
  readonly service: string;
  readonly port: string;
  readonly packets: number;
}

async function* readCounters(
  socket: NftablesSocket,
  { family, nft }: Layout,
  set: NftSet | undefined,
): AsyncGenerator<CountedFrontend> {
  if (!set) return;
  for await (const { comment, counter } of socket.streamElements(nft, TABLE, set)) {
    if (comment === undefined) continue;
    // The kernel keeps the name of the service port as the element's comment.
    const [service = '', port = ''] = comment.split(':');
    yield { family, service, port, packets: Number(counter?.packets ?? 0n) };
  }
}
