import type { Cluster } from '../cluster/cluster.ts';
import type { Arguments } from '../suite/arguments.ts';
import type { PointsmanImage } from './pointsman-image.ts';
import { startPointsmanPods } from './pointsman-pods.ts';
import { startProcesses } from './processes.ts';
import { startUpstreamPods } from './upstream-pods.ts';

/** The proxies of a cluster, one on each node. */
export interface NodeProxies {
  saveLogs(save: (name: string, text: string) => void): void;
}

export interface ProxyParts {
  /** Undefined if no pod of Pointsman is wanted. */
  readonly image?: PointsmanImage;
  readonly kubernetesVersion: string;
}

export function startProxy(
  cluster: Cluster,
  { mode, way, isUpstream }: Arguments,
  parts: ProxyParts,
): Promise<NodeProxies> {
  if (way === 'process') {
    return startProcesses(cluster, mode, isUpstream ? 'kube-proxy' : `${process.cwd()}/bin/kube-proxy`);
  }
  if (isUpstream) return startUpstreamPods(cluster, mode, parts.kubernetesVersion);
  return startPointsmanPods(cluster, mode, imageOf(parts));
}

export function imageOf({ image }: ProxyParts): PointsmanImage {
  if (!image) throw new Error('The image of Pointsman was not built');
  return image;
}
