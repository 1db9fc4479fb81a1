import type { Duration } from '../lib/duration.ts';

/**
 * The configuration of a running proxy, from a file or from flags, with all defaults. Fields have the names of
 * upstream's internal object, because validation errors contain them.
 */
export interface Configuration {
  readonly featureGates: ReadonlyMap<string, boolean>;
  readonly clientConnection: ClientConnection;
  readonly logging: LoggingConfiguration;
  readonly hostnameOverride: string;
  readonly bindAddress: string;
  /** An empty text switches the health server off. */
  readonly healthzBindAddress: string;
  readonly metricsBindAddress: string;
  readonly bindAddressHardFail: boolean;
  readonly enableProfiling: boolean;
  readonly showHiddenMetricsForVersion: string;
  /** After validation: `iptables`, `ipvs`, `nftables`, `ebpf` or `userspace`. */
  readonly mode: string;
  readonly iptables: { readonly masqueradeBit: number | undefined; readonly localhostNodePorts: boolean | undefined };
  readonly ipvs: IpvsConfiguration;
  readonly nftables: { readonly masqueradeBit: number | undefined };
  readonly userspace: UserspaceConfiguration;
  readonly winkernel: WinkernelConfiguration;
  readonly detectLocalMode: string;
  readonly detectLocal: {
    readonly bridgeInterface: string;
    readonly interfaceNamePrefix: string;
    readonly clusterCIDRs: readonly string[];
  };
  /** Undefined and an empty list mean the same, but are written differently: as `null` and as `[]`. */
  readonly nodePortAddresses: readonly string[] | undefined;
  /** The sync periods of the active mode. */
  readonly syncPeriod: Duration;
  readonly minSyncPeriod: Duration;
  readonly configSyncPeriod: Duration;
  readonly linux: {
    readonly conntrack: ConntrackConfiguration;
    /** The setting of the active mode. */
    readonly masqueradeAll: boolean;
    readonly oomScoreAdj: number | undefined;
  };
  readonly windowsRunAsService: boolean;
}

export interface ClientConnection {
  readonly kubeconfig: string;
  readonly acceptContentTypes: string;
  readonly contentType: string;
  readonly qps: number;
  readonly burst: number;
}

export interface LoggingConfiguration {
  readonly format: string;
  readonly flushFrequency: Duration;
  /** The file has a number of nanoseconds. It is written as a number again. */
  readonly flushFrequencyIsNumber?: true | undefined;
  readonly verbosity: number;
  readonly vmodule: readonly VModuleItem[];
  readonly options: { readonly text: OutputOptions; readonly json: OutputOptions };
}

export interface VModuleItem {
  readonly filePattern: string;
  readonly verbosity: number;
}

export interface OutputOptions {
  readonly splitStream: boolean;
  /** A quantity of bytes in its canonical form: `64Ki`. */
  readonly infoBufferSize: string;
}

export interface IpvsConfiguration {
  readonly scheduler: string;
  readonly excludeCIDRs: readonly string[] | undefined;
  readonly strictARP: boolean;
  readonly tcpTimeout: Duration;
  readonly tcpFinTimeout: Duration;
  readonly udpTimeout: Duration;
}

/** The settings of userspace mode, which upstream no longer has. */
export interface UserspaceConfiguration {
  /** `first-last`, `first+count` or one port. An empty text, `0` and `0-0` leave the choice to the kernel. */
  readonly portRange: string;
  readonly udpIdleTimeout: Duration | undefined;
}

export interface ConntrackConfiguration {
  readonly maxPerCore: number | undefined;
  readonly min: number | undefined;
  readonly tcpEstablishedTimeout: Duration | undefined;
  readonly tcpCloseWaitTimeout: Duration | undefined;
  readonly tcpBeLiberal: boolean;
  readonly udpTimeout: Duration;
  readonly udpStreamTimeout: Duration;
}

/** The proxy reads and writes these settings, but does not use them. */
export interface WinkernelConfiguration {
  readonly networkName: string;
  readonly sourceVip: string;
  readonly enableDSR: boolean;
  readonly rootHnsEndpointName: string;
  readonly forwardHealthCheckVip: boolean;
}

/** ebpf mode programs the network as nftables mode does, so it uses the same section and defaults. */
export function usesNftables(mode: string): boolean {
  return mode === 'nftables' || mode === 'ebpf';
}

/** The masquerade bit of the configured mode. All modes but nftables and ebpf use the one of iptables. */
export function masqueradeBitOf({ mode, nftables, iptables }: Configuration): number | undefined {
  return (usesNftables(mode) ? nftables : iptables).masqueradeBit;
}
