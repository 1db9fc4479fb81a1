import { familyOf } from '../../../net/index.ts';
import type { SocketBehaviour, SocketNode } from '../../behaviour.ts';
import { comparesAll, nodeAddresses, type RenderOptions, render } from '../render.ts';

/** What the sockets of a node do, as the maps have it. An explanation and the maps cannot disagree. */
export function socketBehaviour(callers: SocketBehaviour['callers']): SocketBehaviour {
  return {
    callers,
    decide: (plan, { ip, port }, node) => {
      const rendered = render(plan, optionsOf(node));
      const target = rendered?.targets.find(each => each.ip === ip && each.port === port);
      if (!rendered || !target || target.to === 'leave') return undefined;
      const { to, isNodeOnly } = target;
      const pool = rendered.pools.find(({ name }) => name === to);
      return { to, isNodeOnly, comparesAll: pool !== undefined && comparesAll(rendered, pool) };
    },
    hasNodePorts: (ip, node) => nodeAddresses(familyOf(ip), node, new Set(node.nodeIPs)).has(ip),
  };
}

/** Kernels that cannot refuse inside `connect` leave it to the rules, which refuse too. */
function optionsOf({ masqueradeAll, nodeIPs }: SocketNode): RenderOptions {
  return { masqueradeAll, canRefuse: true, nodeIPs: new Set(nodeIPs) };
}
