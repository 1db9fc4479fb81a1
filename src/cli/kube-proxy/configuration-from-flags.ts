import { appendPortIfNeeded, type Configuration, defaultConfiguration } from '../../config/index.ts';
import type { FlagValues, ParsedFlags } from '../flags/index.ts';
import type { KubeProxyFlags } from './flags/index.ts';
import { overrideLogging } from './logging.ts';

type Values = FlagValues<KubeProxyFlags>;

/** Makes the configuration without a file. */
export function configurationFromFlags(parsed: ParsedFlags<KubeProxyFlags>): Configuration {
  const { values, changed } = parsed;
  const defaults = defaultConfiguration();
  return {
    ...defaults,
    ...addresses(values),
    featureGates: values['feature-gates'],
    clientConnection: {
      ...defaults.clientConnection,
      kubeconfig: values.kubeconfig,
      contentType: values['kube-api-content-type'],
      qps: values['kube-api-qps'],
      burst: values['kube-api-burst'],
    },
    logging: overrideLogging(defaults.logging, parsed),
    bindAddressHardFail: values['bind-address-hard-fail'],
    enableProfiling: values.profiling,
    showHiddenMetricsForVersion: values['show-hidden-metrics-for-version'],
    ...modes(values, changed),
    detectLocalMode: values['detect-local-mode'],
    detectLocal: {
      bridgeInterface: values['pod-bridge-interface'],
      interfaceNamePrefix: values['pod-interface-name-prefix'],
      clusterCIDRs: changed.has('cluster-cidr') ? values['cluster-cidr'].split(',') : [],
    },
    nodePortAddresses: changed.has('nodeport-addresses') ? values['nodeport-addresses'] : undefined,
    configSyncPeriod: values['config-sync-period'],
    linux: linux(values),
  };
}

/**
 * Addresses without a port get the port of the deprecated flag. Port 0 switches the server off. If the configuration is
 * only written, addresses stay as they are, because the program that reads the file appends a port.
 */
function addresses(values: Values): Pick<Configuration, 'bindAddress' | 'healthzBindAddress' | 'metricsBindAddress'> {
  const withPort = (address: string, port: number): string => {
    if (values['write-config-to'] !== '') return address;
    return port === 0 ? '' : appendPortIfNeeded(address, port);
  };
  return {
    bindAddress: values['bind-address'],
    healthzBindAddress: withPort(values['healthz-bind-address'], values['healthz-port']),
    metricsBindAddress: withPort(values['metrics-bind-address'], values['metrics-port']),
  };
}

type Modes = Pick<Configuration, 'mode' | 'iptables' | 'ipvs' | 'syncPeriod' | 'minSyncPeriod'>;

function modes(values: Values, changed: ReadonlySet<keyof KubeProxyFlags>): Modes {
  const mode = values['proxy-mode'];
  // ipvs mode has its own flags for the periods. All other modes use the flags that have iptables in their names.
  const isIpvs = mode === 'ipvs';
  return {
    mode,
    iptables: {
      masqueradeBit: values['iptables-masquerade-bit'],
      localhostNodePorts: values['iptables-localhost-nodeports'],
    },
    ipvs: {
      scheduler: values['ipvs-scheduler'],
      excludeCIDRs: changed.has('ipvs-exclude-cidrs') ? values['ipvs-exclude-cidrs'] : undefined,
      strictARP: values['ipvs-strict-arp'],
      tcpTimeout: values['ipvs-tcp-timeout'],
      tcpFinTimeout: values['ipvs-tcpfin-timeout'],
      udpTimeout: values['ipvs-udp-timeout'],
    },
    syncPeriod: values[isIpvs ? 'ipvs-sync-period' : 'iptables-sync-period'],
    minSyncPeriod: values[isIpvs ? 'ipvs-min-sync-period' : 'iptables-min-sync-period'],
  };
}

function linux(values: Values): Configuration['linux'] {
  return {
    conntrack: {
      maxPerCore: values['conntrack-max-per-core'],
      min: values['conntrack-min'],
      tcpEstablishedTimeout: values['conntrack-tcp-timeout-established'],
      tcpCloseWaitTimeout: values['conntrack-tcp-timeout-close-wait'],
      tcpBeLiberal: values['conntrack-tcp-be-liberal'],
      udpTimeout: values['conntrack-udp-timeout'],
      udpStreamTimeout: values['conntrack-udp-timeout-stream'],
    },
    masqueradeAll: values['masquerade-all'],
    oomScoreAdj: values['oom-score-adj'],
  };
}
