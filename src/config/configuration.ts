import type { Duration } from '../lib/duration.ts';

/**
 * The configuration of a running proxy: what a file or flags say after defaults and conversion. Field names are those of
 * upstream's internal object, by which validation errors are reported.
 */
export interface Configuration {
  readonly featureGates: ReadonlyMap<string, boolean>;
  readonly clientConnection: ClientConnection;
  readonly logging: LoggingConfiguration;
  readonly hostnameOverride: string;
  readonly bindAddress: string;
  /** Empty: no health server. */
  readonly healthzBindAddress: string;
  readonly metricsBindAddress: string;
  readonly bindAddressHardFail: boolean;
  readonly enableProfiling: boolean;
  readonly showHiddenMetricsForVersion: string;
  /** `iptables`, `ipvs`, `nftables` or `userspace`, once validated. */
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
  /** Undefined and empty mean the same, but are written differently: `null` and `[]`. */
  readonly nodePortAddresses: readonly string[] | undefined;
  /** Of the active mode. */
  readonly syncPeriod: Duration;
  readonly minSyncPeriod: Duration;
  readonly configSyncPeriod: Duration;
  readonly linux: {
    readonly conntrack: ConntrackConfiguration;
    /** Of the active mode. */
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
  /** A file may have it as a number of nanoseconds; then it is written so again. */
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

/** Of a mode that upstream has no more. */
export interface UserspaceConfiguration {
  /** `first-last`, `first+count` or one port; empty, `0` and `0-0` leave the choice to the kernel. */
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

/** Read and written, but not used on Linux. */
export interface WinkernelConfiguration {
  readonly networkName: string;
  readonly sourceVip: string;
  readonly enableDSR: boolean;
  readonly rootHnsEndpointName: string;
  readonly forwardHealthCheckVip: boolean;
}
