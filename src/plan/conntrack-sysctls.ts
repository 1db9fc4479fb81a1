/** The `conntrack` part of the configuration. Unset fields are undefined. */
export interface ConntrackConfig {
  readonly maxPerCore: number | undefined;
  readonly min: number | undefined;
  readonly tcpEstablishedTimeoutMs: number | undefined;
  readonly tcpCloseWaitTimeoutMs: number | undefined;
  readonly tcpBeLiberal: boolean;
  readonly udpTimeoutMs: number | undefined;
  readonly udpStreamTimeoutMs: number | undefined;
}

export interface Sysctl {
  readonly name: string;
  readonly value: number;
}

/** A larger table would only take memory. */
const MAX_ENTRIES = 1 << 20;

/** The limit of flows that the kernel remembers. 0 means to leave the kernel's limit as it is. */
export function conntrackMax({ maxPerCore, min }: ConntrackConfig, cpus: number): number {
  if (!maxPerCore || maxPerCore <= 0) return 0;
  const scaled = maxPerCore * cpus;
  return scaled > MAX_ENTRIES ? MAX_ENTRIES : Math.max(scaled, min ?? 0);
}

/** The sysctls to set at start, in order. A setting of zero or undefined leaves the kernel's value as it is. */
export function conntrackSysctls(config: ConntrackConfig, cpus: number): readonly Sysctl[] {
  const max = conntrackMax(config, cpus);
  const seconds = (name: string, ms: number | undefined) => set(name, Math.floor((ms ?? 0) / 1000));
  return [
    ...set('nf_conntrack_max', max),
    ...seconds('nf_conntrack_tcp_timeout_established', config.tcpEstablishedTimeoutMs),
    ...seconds('nf_conntrack_tcp_timeout_close_wait', config.tcpCloseWaitTimeoutMs),
    ...set('nf_conntrack_tcp_be_liberal', config.tcpBeLiberal ? 1 : 0),
    ...seconds('nf_conntrack_udp_timeout', config.udpTimeoutMs),
    ...seconds('nf_conntrack_udp_timeout_stream', config.udpStreamTimeoutMs),
  ];
}

function set(name: string, value: number): Sysctl[] {
  return value > 0 ? [{ name: `net/netfilter/${name}`, value }] : [];
}
