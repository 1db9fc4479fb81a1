import type { Cluster } from '../cluster/cluster.ts';

export const IMAGE_NAME = 'conformance.local/pointsman';

export interface PointsmanImage {
  readonly archive: string;
  readonly version: string;
}

/** Brings the image to every node, without a registry. Returns the name that pods use. */
export async function importPointsman(cluster: Cluster, { archive, version }: PointsmanImage): Promise<string> {
  await Promise.all(cluster.nodes.map(node => node.importImages(archive)));
  // The kubelet takes a name without a host for a name of Docker's registry.
  for (const node of cluster.nodes) node.tagImage(`pointsman:${version}`, `${IMAGE_NAME}:${version}`);
  return `${IMAGE_NAME}:${version}`;
}
