import { NODE } from './node-object.ts';

/** The text of a KubeProxyConfiguration for the node; JSON, which is YAML too. Fields of `overrides` replace whole fields. */
export function proxyConfigurationText(kubeconfig: string, overrides: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    hostnameOverride: NODE.metadata.name,
    clientConnection: { kubeconfig },
    clusterCIDR: '10.244.0.0/16,fd00:10:244::/48',
    // The limit of connections belongs to the whole machine.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    ...overrides,
  });
}
