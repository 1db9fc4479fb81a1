import { readFileSync } from 'node:fs';
import { API_SERVER, POD_RANGES } from '../cluster/addresses.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Mode } from '../suite/arguments.ts';
import type { NodeProxies } from './proxy.ts';

/** Installs upstream's kube-proxy as kubeadm does. */
export async function startUpstreamPods(cluster: Cluster, mode: Mode, version: string): Promise<NodeProxies> {
  const manifests = readFileSync('test/release/kubeadm.yaml', 'utf8')
    .replace('<SERVER>', API_SERVER)
    .replace('<MODE>', mode)
    .replace('<IMAGE>', `registry.k8s.io/kube-proxy:${version}`)
    .replace(/clusterCIDR: .*/, `clusterCIDR: ${POD_RANGES}`)
    // Here each node has time-outs of its own, so the proxy may set them.
    .replace('tcpCloseWaitTimeout: 0s', 'tcpCloseWaitTimeout: null')
    .replace('tcpEstablishedTimeout: 0s', 'tcpEstablishedTimeout: null');
  cluster.apply(manifests);
  cluster.kubectl(['--namespace', 'kube-system', 'rollout', 'status', 'daemonset/kube-proxy', '--timeout=3m']);
  return {
    saveLogs: save => {
      const flags = ['--namespace', 'kube-system', 'logs', '--selector', 'k8s-app=kube-proxy', '--tail=-1', '--prefix'];
      save('kube-proxy', cluster.kubectl(flags));
    },
  };
}
