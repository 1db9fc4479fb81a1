import { readFileSync, writeFileSync } from 'node:fs';
import type { Cluster } from '../cluster/cluster.ts';
import { unifiedPath } from '../cluster/control-groups.ts';
import type { Mode } from '../suite/arguments.ts';
import { proxyConfiguration } from './configuration.ts';
import type { NodeProxies } from './proxy.ts';

/** Runs a program as the proxy of each node, without a container. */
export async function startProcesses(cluster: Cluster, mode: Mode, program: string): Promise<NodeProxies> {
  const configuration = `${cluster.folder}/proxy.json`;
  writeFileSync(configuration, proxyConfiguration(mode, `${cluster.folder}/kube-proxy.conf`));
  for (const node of cluster.nodes) {
    const group = mode === 'ebpf' ? [`--cgroup-root=${unifiedPath(node.host.name)}`] : [];
    const flags = ['--config', configuration, '--hostname-override', node.host.name, ...group];
    node.background('proxy', [program, ...flags]);
  }
  return {
    saveLogs: save => {
      for (const { host } of cluster.nodes) {
        save(`proxy-${host.name}`, readFileSync(`${cluster.folder}/logs/proxy-${host.name}.log`, 'utf8'));
      }
    },
  };
}
