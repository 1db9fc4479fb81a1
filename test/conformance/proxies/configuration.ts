import { API_SERVER, POD_RANGES } from '../cluster/addresses.ts';
import type { Mode } from '../suite/arguments.ts';

const SECRETS = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A KubeProxyConfiguration as JSON, which is also YAML. */
export function proxyConfiguration(mode: Mode, kubeconfig: string): string {
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode,
    clientConnection: { kubeconfig },
    clusterCIDR: POD_RANGES,
    // The limit of connections is the machine's, not the node's.
    conntrack: { maxPerCore: 0, min: 0 },
  });
}

/** The kubeconfig of a proxy in a pod. The API server must be reachable without Services. */
export function podKubeconfig(): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default', cluster: { server: API_SERVER, 'certificate-authority': `${SECRETS}/ca.crt` } }],
    users: [{ name: 'default', user: { tokenFile: `${SECRETS}/token` } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
    'current-context': 'default',
  });
}
