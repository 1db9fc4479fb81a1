import type { Clock } from '../../../lib/clock.ts';
import type { Family } from '../../../net/index.ts';
import {
  advanced,
  alpha,
  BoundedReading,
  kubeProxyName,
  type MetricSet,
  type Sample,
  type Total,
} from '../../../observe/metrics/index.ts';
import type { ListenerCounts } from './localhost-listeners.ts';
import type { RejectedPackets } from './rejected-packets.ts';

export interface LocalhostReaders {
  /** Of each family that listens. */
  listeners(): Iterable<readonly [Family, ListenerCounts]>;
  /** Rejects if the kernel breaks the listing off. */
  rejectedPackets(): Promise<readonly RejectedPackets[]>;
}

const FAMILY = ['ip_family'] as const;
const REJECTED = ['ip_family', 'protocol'] as const;

/** Upstream's metrics of node ports at loopback. Upstream has them only if its feature gate is on. */
export function registerLocalhost(set: MetricSet, clock: Clock, readers: LocalhostReaders): void {
  const each = async (value: (counts: ListenerCounts) => number) =>
    Array.from(readers.listeners(), ([family, counts]) => ({ labels: { ip_family: family }, value: value(counts) }));
  set.readGauges(
    kubeProxyName('nftables_localhost_nodeport_listeners'),
    FAMILY,
    alpha('Number of active localhost NodePort userspace proxy listeners.'),
    () => each(({ listeners }) => listeners),
  );
  set.readCounters(
    kubeProxyName('nftables_localhost_nodeport_listener_creation_failures_total'),
    FAMILY,
    alpha('Number of localhost NodePort userspace proxy listener creation failures.'),
    () => each(({ failures }) => failures),
  );
  const rejected = new RejectedTotals();
  const reading = new BoundedReading(clock, () => rejected.read(readers));
  set.readCounters(
    kubeProxyName('nftables_localhost_nodeport_rejected_packets_total'),
    REJECTED,
    alpha(
      'Number of packets rejected on localhost NodePorts. UDP and SCTP are always rejected; TCP is rejected when the localhost NodePort proxy is not running',
    ),
    async () => {
      await reading.refresh();
      return rejected.samples();
    },
  );
}

/** The totals never decrease, even if another program deletes the table. */
class RejectedTotals {
  readonly #totals = new Map<string, RejectedPackets & { readonly total: Total }>();

  /** If a reading fails, the next scrape reads again. */
  async read({ rejectedPackets }: Pick<LocalhostReaders, 'rejectedPackets'>): Promise<void> {
    const read = await rejectedPackets().catch(() => []);
    for (const counted of read) {
      const key = `${counted.family} ${counted.protocol}`;
      this.#totals.set(key, { ...counted, total: advanced(this.#totals.get(key)?.total, counted.packets) });
    }
  }

  *samples(): Generator<Sample<(typeof REJECTED)[number]>> {
    for (const { family, protocol, total } of this.#totals.values()) {
      yield { labels: { ip_family: family, protocol }, value: total.total };
    }
  }
}
