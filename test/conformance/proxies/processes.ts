import { readFileSync, writeFileSync } from 'node:fs';
import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterNode } from '../cluster/node.ts';
import type { Mode } from '../suite/arguments.ts';
import { proxyConfiguration } from './configuration.ts';
import type { NodeProxies } from './proxy.ts';

const ASK_HEALTH = `exec 3<>/dev/tcp/127.0.0.1/10256
printf 'GET /healthz HTTP/1.0\\r\\n\\r\\n' >&3
head -1 <&3 | grep -q 200`;

/** Runs a program as the proxy of each node, without a container. */
export async function startProcesses(cluster: Cluster, mode: Mode, program: string): Promise<NodeProxies> {
  const configuration = `${cluster.folder}/proxy.json`;
  writeFileSync(configuration, proxyConfiguration(mode, `${cluster.folder}/kube-proxy.conf`));
  for (const node of cluster.nodes) {
    const group = mode === 'ebpf' ? [`--cgroup-root=${node.controlGroup.unifiedPath}`] : [];
    const flags = ['--config', configuration, '--hostname-override', node.host.name, ...group];
    const proxy = node.background('proxy', [program, ...flags]);
    await proxy.ready(() => isHealthy(node));
  }
  return {
    saveLogs: save => {
      for (const { host } of cluster.nodes) {
        save(`proxy-${host.name}`, readFileSync(`${cluster.folder}/logs/proxy-${host.name}.log`, 'utf8'));
      }
    },
  };
}

function isHealthy(node: ClusterNode): boolean {
  try {
    node.run(['bash', '-c', ASK_HEALTH]);
    return true;
  } catch {
    return false;
  }
}
