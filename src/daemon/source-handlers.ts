import type { KubeObject } from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import { FatalError } from '../lib/fatal-error.ts';
import type { Fields } from '../observe/logging/index.ts';
import type { ProxyLoop } from '../proxy/index.ts';
import type { SourceHandlers } from '../source/index.ts';
import type { RunParts } from './run.ts';

/** Hands all objects to the loop. The Node also goes to the health check, and its pod CIDRs may end the process. */
export function sourceHandlers(
  {
    options,
    observability: { health, input, history },
    objects,
    programmed,
    shutdown,
    nodeName,
  }: Pick<RunParts, 'options' | 'observability' | 'objects' | 'programmed' | 'shutdown' | 'nodeName'>,
  loop: ProxyLoop,
): SourceHandlers {
  const { log } = options;
  const podCIDRs = objects.ownNode.node?.podCIDRs.toString();
  const dependsOnPodCIDRs = () => loop.live.settings.mode === 'NodeCIDR' && options.manifests === undefined;
  const receive = (kind: string, field: string, change: Change<KubeObject>) => {
    if (log.isEnabled(4, 'config')) log.v(4, 'config', `${kind} received`, received(field, change));
    input.objectChanged(latestOf(change));
  };
  return {
    serviceChanged(change) {
      receive('Service', 'service', change);
      history.serviceChanged(change);
      programmed.objectChanged();
      loop.serviceChanged(change);
    },
    endpointSliceChanged(change) {
      receive('EndpointSlice', 'endpoints', change);
      history.endpointSliceChanged(change);
      programmed.objectChanged();
      loop.endpointSliceChanged(change);
    },
    serviceCidrChanged(change) {
      receive('ServiceCIDR', 'serviceCIDR', change);
      history.serviceCidrChanged(change);
      loop.serviceCidrChanged(change);
    },
    nodeChanged(change) {
      receive('Node', 'node', change);
      history.nodeChanged(change);
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
    synced() {
      log.v(3, 'config', 'All objects have been received');
      history.listed();
      loop.synced();
    },
    problem: problem => loop.problem(problem),
    recovered: where => loop.recovered(where),
  };
}

/** For the log: what happened to the object. */
function received(field: string, change: Change<KubeObject>): Fields {
  const { namespace, name } = latestOf(change).metadata;
  return { [field]: namespace === '' ? name : `${namespace}/${name}`, change: change.type };
}
