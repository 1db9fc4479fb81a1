import { latestOf } from '../lib/change.ts';
import { FatalError } from '../lib/fatal-error.ts';
import type { ProxyHealth } from '../observe/health/index.ts';
import type { ProxyLoop } from '../proxy/index.ts';
import type { SourceHandlers } from '../source/index.ts';
import type { RunParts } from './run.ts';

/** Hands all objects to the loop. The Node also goes to the health check, and its pod CIDRs may end the process. */
export function sourceHandlers(
  { options, objects, shutdown, nodeName }: Pick<RunParts, 'options' | 'objects' | 'shutdown' | 'nodeName'>,
  loop: ProxyLoop,
  health: ProxyHealth,
): SourceHandlers {
  const { log } = options;
  const podCIDRs = objects.ownNode.node?.podCIDRs.toString();
  const dependsOnPodCIDRs = () => loop.live.settings.mode === 'NodeCIDR' && options.manifests === undefined;
  return {
    serviceChanged: change => loop.serviceChanged(change),
    endpointSliceChanged: change => loop.endpointSliceChanged(change),
    serviceCidrChanged: change => loop.serviceCidrChanged(change),
    nodeChanged(change) {
      objects.ownNode.handle(change);
      health.setNode(objects.ownNode.node);
      if (change.type === 'removed') {
        log.info('node', 'The Node was deleted; the proxy keeps its last known state', { node: nodeName });
      }
      const { podCIDRs: now } = latestOf(change);
      if (dependsOnPodCIDRs() && now.toString() !== podCIDRs) {
        const fields = { node: nodeName, before: podCIDRs, now };
        log.info('node', 'The PodCIDRs of the Node changed, which needs a restart', fields);
        shutdown.fail(new FatalError(`the PodCIDRs of node ${JSON.stringify(nodeName)} changed`));
        return;
      }
      loop.nodeChanged(change);
    },
    synced: () => loop.synced(),
    problem: problem => loop.problem(problem),
    recovered: where => loop.recovered(where),
  };
}
