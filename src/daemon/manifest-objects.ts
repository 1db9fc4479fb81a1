import { serviceReference } from '../observe/events/index.ts';
import { FilesSource } from '../source/index.ts';
import type { Closers } from './closers.ts';
import { namesOf } from './events.ts';
import { localNode } from './local-node.ts';
import type { Objects } from './objects.ts';
import { OwnNode } from './own-node.ts';

/** Objects from a folder of manifests. This machine is its Node, unless a manifest says otherwise. */
export function manifestObjects(path: string, nodeName: string, closers: Closers): Objects {
  const ownNode = new OwnNode();
  ownNode.handle({ type: 'added', to: localNode(nodeName) });
  const source = new FilesSource({ path, nodeName, localNode: () => localNode(nodeName) });
  closers.add('objects', () => source.close());
  return {
    source,
    ownNode,
    serviceReference: name => serviceReference(namesOf(name)),
  };
}
