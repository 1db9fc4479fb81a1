import type { Configuration } from '../../../config/index.ts';
import type { Config } from '../../../kernel/ipvs/index.ts';
import { toMilliseconds } from '../../../lib/duration.ts';

/** The options that only ipvs mode has. */
export interface IpvsOptions {
  /** `rr` if it is missing or empty. */
  readonly scheduler?: string | undefined;
  /** The mode leaves virtual servers at these addresses alone, unless a Service is there. */
  readonly excludeCIDRs?: readonly string[] | undefined;
  /** The machine answers ARP requests only at the link that has the address. */
  readonly strictARP?: boolean | undefined;
  /** How many seconds the kernel remembers connections. 0 keeps the kernel's own timeout. */
  readonly timeouts?: Config | undefined;
}

export function optionsFrom({ ipvs }: Configuration): IpvsOptions {
  const seconds = (duration: Configuration['ipvs']['tcpTimeout']) => Math.floor(toMilliseconds(duration) / 1000);
  return {
    scheduler: ipvs.scheduler,
    strictARP: ipvs.strictARP,
    excludeCIDRs: ipvs.excludeCIDRs ?? [],
    timeouts: { tcp: seconds(ipvs.tcpTimeout), tcpFin: seconds(ipvs.tcpFinTimeout), udp: seconds(ipvs.udpTimeout) },
  };
}
