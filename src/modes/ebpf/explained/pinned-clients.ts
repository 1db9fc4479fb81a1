import { uptime } from 'node:os';
import type { BpfMap } from '../../../kernel/bpf/index.ts';
import { Breaks } from '../../../lib/breaks.ts';
import { MAX_PINNED_CLIENTS, type PinnedClient } from '../../read-back.ts';
import { poolIdentity } from '../generation/target-value.ts';
import { decodeAffinity, decodeAffinityKey } from '../programs/index.ts';
import type { SocketPort } from '../render.ts';
import { endpointName } from './map-texts.ts';

const NANOSECONDS = 1_000_000_000n;
/** How many elements are looked at before the time is. */
const CHECK_EVERY = 256;

/**
 * The clients that a service port remembers. All processes of a network namespace are one client, and the kernel knows
 * it by a cookie only: which pod has that namespace is not known here. Stops one client after the limit of a reading.
 */
export async function pinnedClients(
  { id, pools, affinitySeconds }: SocketPort,
  affinity: BpfMap | undefined,
  nodeCookie: bigint,
): Promise<readonly PinnedClient[]> {
  if (affinitySeconds === 0 || !affinity) return [];
  const identities = new Set(pools.map(({ name }) => poolIdentity(id, name)));
  const { keys, values } = affinity.entries();
  const { keyBytes, valueBytes } = affinity.spec;
  const now = BigInt(Math.floor(uptime()));
  const clients: PinnedClient[] = [];
  const breaks = new Breaks();
  for (let i = 0; i * keyBytes < keys.length && clients.length <= MAX_PINNED_CLIENTS; i++) {
    if (i % CHECK_EVERY === 0 && breaks.isDue) await breaks.take();
    const { client, identity } = decodeAffinityKey(keys.subarray(i * keyBytes, (i + 1) * keyBytes));
    if (!identities.has(identity)) continue;
    const { seen, endpoint } = decodeAffinity(values.subarray(i * valueBytes, (i + 1) * valueBytes));
    const secondsLeft = affinitySeconds - Number(now - seen / NANOSECONDS);
    // The kernel keeps the element, but the program no longer looks at it.
    if (secondsLeft <= 0) continue;
    clients.push({ client: clientName(client, nodeCookie), endpoint: endpointName(endpoint), secondsLeft });
  }
  return clients;
}

function clientName(cookie: bigint, nodeCookie: bigint): string {
  return cookie === nodeCookie ? 'node' : `namespace ${cookie}`;
}
