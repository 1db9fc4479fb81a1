import { serviceReference } from '../events/index.ts';
import { FilesSource } from '../source/index.ts';
import { namesOf } from './events.ts';
import { localNode } from './local-node.ts';
import type { Objects } from './objects.ts';
import { OwnNode } from './own-node.ts';

/** Objects from a folder of manifests. This machine is its Node, unless a manifest says otherwise. */
export function manifestObjects(path: string, nodeName: string): Objects {
  const ownNode = new OwnNode();
  ownNode.handle({ type: 'added', object: localNode(nodeName) });
  return {
    source: new FilesSource({ path, nodeName, localNode: () => localNode(nodeName) }),
    ownNode,
    client: undefined,
    serviceReference: name => serviceReference(namesOf(name)),
  };
}
