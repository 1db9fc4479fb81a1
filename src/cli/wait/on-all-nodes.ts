import { systemClock } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import type { ApiReader } from './api-reader.ts';
import { LeaseBook } from './lease-book.ts';
import { type ReadyNode, readyNodes } from './nodes.ts';
import type { MissingNode } from './report.ts';
import type { Target } from './target.ts';
import { missingOn } from './verdict.ts';

export interface AllNodesWait {
  /** Its requests end soon after the time limit. */
  readonly reader: ApiReader;
  readonly target: Target;
  readonly namespace: string;
  readonly nodeSelector: string;
  /** Aborts when the time is over. */
  readonly timeUp: AbortSignal;
  /** Called at most once a second. */
  readonly onProgress: (nodeCount: number, missing: readonly string[]) => void;
}

export interface AllNodesEnd {
  readonly nodeCount: number;
  readonly missing: readonly MissingNode[];
}

const PROGRESS_MS = 1000;

/**
 * Waits until the Lease of every ready node says that the node has the target. Ends early if a node could not program the
 * Service. Nodes that join during the wait do not count.
 */
export async function waitOnAllNodes(wait: AllNodesWait): Promise<AllNodesEnd> {
  const { reader, target, timeUp } = wait;
  const nodes = new Map((await readyNodes(reader, wait.nodeSelector)).map(node => [node.name, node]));
  if (nodes.size === 0) throw new Error('no node is ready, or none has the labels of --node-selector');
  const missing = new Map<string, ReadyNode>(nodes);
  const done = new AbortController();
  const ended = AbortSignal.any([timeUp, done.signal]);
  const book = new LeaseBook(reader, wait.namespace, name => {
    const node = missing.get(name);
    if (!node) return;
    const lack = missingOn(node, book.get(name), target, systemClock.now());
    if (!lack) missing.delete(name);
    if (missing.size === 0 || lack?.cause === 'set-aside') done.abort();
  });
  await Promise.race([book.follow(ended), progress(wait, nodes.size, missing, ended)]);
  done.abort();
  const left = await stillReady(wait, missing);
  return {
    nodeCount: nodes.size - (missing.size - left.length),
    missing: left.flatMap(node => missingOn(node, book.get(node.name), target, systemClock.now()) ?? []),
  };
}

/** Resolves when the wait has ended. */
async function progress(
  { onProgress }: AllNodesWait,
  nodeCount: number,
  missing: ReadonlyMap<string, ReadyNode>,
  ended: AbortSignal,
): Promise<void> {
  let last = -1;
  for (;;) {
    await sleep(PROGRESS_MS, systemClock, ended);
    if (ended.aborted) return;
    if (missing.size !== last) onProgress(nodeCount, [...missing.keys()]);
    last = missing.size;
  }
}

/** A node that was deleted, or is no longer ready, does not count as missing. */
async function stillReady(
  { reader, nodeSelector }: AllNodesWait,
  missing: ReadonlyMap<string, ReadyNode>,
): Promise<readonly ReadyNode[]> {
  if (missing.size === 0) return [];
  const names = new Set((await readyNodes(reader, nodeSelector)).map(({ name }) => name));
  return [...missing.values()].filter(({ name }) => names.has(name));
}
