import { fieldsOf } from '../../lib/is-record.ts';
import type { ApiReader } from './api-reader.ts';

/** A node whose proxy must have programmed the Service. */
export interface ReadyNode {
  readonly name: string;
  /** The kernel's id of the time since the last boot. Undefined if the kubelet does not report it. */
  readonly bootId: string | undefined;
}

/** The nodes that are ready now. A node that is not ready serves no connections that matter. */
export async function readyNodes(reader: ApiReader, labelSelector: string): Promise<readonly ReadyNode[]> {
  const nodes: ReadyNode[] = [];
  await reader.list('/api/v1/nodes', labelSelector === '' ? {} : { labelSelector }, item => {
    const node = readyNode(item);
    if (node) nodes.push(node);
  });
  return nodes;
}

function readyNode(item: unknown): ReadyNode | undefined {
  const { metadata, status } = fieldsOf(item);
  const { name } = fieldsOf(metadata);
  const { conditions, nodeInfo } = fieldsOf(status);
  const { bootID } = fieldsOf(nodeInfo);
  if (typeof name !== 'string' || !Array.isArray(conditions)) return undefined;
  const ready = conditions.map(fieldsOf).find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return undefined;
  return { name, bootId: typeof bootID === 'string' && bootID !== '' ? bootID : undefined };
}
