import { NODE } from './node-object.ts';

/** A KubeProxyConfiguration for the node as JSON, which is also YAML. Fields of `overrides` replace whole fields. */
export function proxyConfigurationText(kubeconfig: string, overrides: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: NODE.metadata.name,
    clientConnection: { kubeconfig },
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/48',
    // Zero leaves the sysctls alone. The limit of connections would apply to the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    ...overrides,
  });
}
