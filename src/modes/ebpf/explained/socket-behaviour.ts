import { familyOf } from '../../../net/index.ts';
import type { SocketBehaviour, SocketNode } from '../../behaviour.ts';
import { nodeAddresses, type RenderOptions, render } from '../render.ts';

/** What the sockets of a node do, as the maps have it. An explanation and the maps cannot disagree. */
export function socketBehaviour(callers: SocketBehaviour['callers']): SocketBehaviour {
  return {
    callers,
    decide: (plan, { ip, port }, node) => {
      const target = render(plan, optionsOf(node))?.targets.find(each => each.ip === ip && each.port === port);
      return target && target.to !== 'leave' ? { to: target.to, isNodeOnly: target.isNodeOnly } : undefined;
    },
    hasNodePorts: (ip, node) => nodeAddresses(familyOf(ip), node, new Set(node.nodeIPs)).has(ip),
  };
}

/** Kernels that cannot refuse inside `connect` leave it to the rules, which refuse too. */
function optionsOf({ masqueradeAll, nodeIPs }: SocketNode): RenderOptions {
  return { masqueradeAll, canRefuse: true, nodeIPs: new Set(nodeIPs) };
}
