import type { ObjectReference } from '../observe/events/index.ts';
import type { Source } from '../source/index.ts';
import type { Closers } from './closers.ts';
import { clusterObjects } from './cluster-objects.ts';
import { manifestObjects } from './manifest-objects.ts';
import type { DaemonOptions } from './options.ts';
import type { OwnNode } from './own-node.ts';
import type { Surroundings } from './surroundings.ts';

/** Where the proxy's objects come from, once the Node is known as far as it must be. */
export interface Objects {
  readonly source: Source;
  readonly ownNode: OwnNode;
  /** What an Event about a Service refers to, by its name or that of a port of it: `ns/name`, `ns/name:port`. */
  serviceReference(name: string): ObjectReference;
}

export async function openObjects(
  options: DaemonOptions,
  nodeName: string,
  surroundings: Surroundings,
  closers: Closers,
): Promise<Objects> {
  const { manifests } = options;
  if (manifests !== undefined) {
    surroundings.connected(undefined);
    return manifestObjects(manifests, nodeName, closers);
  }
  return clusterObjects(options, nodeName, surroundings, closers);
}
