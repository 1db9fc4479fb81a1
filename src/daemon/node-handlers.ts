import { latestOf } from '../lib/change.ts';
import type { ProxyHealth } from '../observe/health/index.ts';
import type { ProxyLoop } from '../proxy/index.ts';
import type { SourceHandlers } from '../source/index.ts';
import type { RunParts } from './run.ts';
import { StartupError } from './startup-error.ts';

/** Hands objects to the loop, and the Node also to those who look at it for other reasons. */
export function followNode(
  { options, objects, ending, nodeName }: Pick<RunParts, 'options' | 'objects' | 'ending' | 'nodeName'>,
  loop: ProxyLoop,
  health: ProxyHealth,
): SourceHandlers {
  const { log } = options;
  const podCIDRs = objects.ownNode.node?.podCIDRs.toString();
  const isByPodCIDRs = () => loop.live.settings.mode === 'NodeCIDR' && options.manifests === undefined;
  return {
    serviceChanged: change => loop.serviceChanged(change),
    endpointSliceChanged: change => loop.endpointSliceChanged(change),
    serviceCidrChanged: change => loop.serviceCidrChanged(change),
    nodeChanged(change) {
      objects.ownNode.handle(change);
      health.setNode(objects.ownNode.node);
      if (change.type === 'removed') log.info('node', 'Node deleted; what is known of it stays', { node: nodeName });
      const { podCIDRs: now } = latestOf(change);
      if (isByPodCIDRs() && now.toString() !== podCIDRs) {
        log.info('node', 'PodCIDRs changed', { node: nodeName, before: podCIDRs, now });
        ending.fail(new StartupError(`the PodCIDRs of node ${JSON.stringify(nodeName)} changed`));
        return;
      }
      loop.nodeChanged(change);
    },
    synced: () => loop.synced(),
    problem: problem => loop.problem(problem),
    recovered: where => loop.recovered(where),
  };
}
