import { runsOf, withRunTimes } from './bpf-statistics.ts';
import type { Answered, EbpfNode } from './ebpf-node.ts';
import { median } from './report.ts';
import type { SocketAddress } from './socket-load.ts';

/** Microseconds of the program that runs at each `connect`. */
export interface HookCost {
  /** To Services all over the tables, each with a new socket. */
  readonly service: number;
  /** To an address that no Service has. */
  readonly none: number;
}

const CONNECTS = 4000;

export async function measureHook(node: EbpfNode, { endpoint }: Answered, rounds: number): Promise<HookCost> {
  const services = node.filled();
  const toServices = Array.from({ length: CONNECTS }, (_, i) => services[i % services.length] ?? endpoint);
  const toNone = toServices.map(() => ({ ...endpoint, port: 1 }));
  return withRunTimes(async () => {
    const [service, none]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      service.push(await microseconds(node, toServices));
      none.push(await microseconds(node, toNone));
    }
    return { service: median(service), none: median(none) };
  });
}

async function microseconds(node: EbpfNode, addresses: readonly SocketAddress[]): Promise<number> {
  const before = runsOf(node.group.fd, 'connect4');
  await node.clients.connectOnly('node', 'ebpf', addresses);
  const after = runsOf(node.group.fd, 'connect4');
  if (after.count - before.count !== addresses.length) {
    throw new Error(`the program ran ${after.count - before.count} times for ${addresses.length} calls of connect`);
  }
  return (after.ns - before.ns) / 1000 / addresses.length;
}
