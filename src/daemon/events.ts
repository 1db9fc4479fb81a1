import type { SetAside } from '../modes/index.ts';
import { IPVS_DEPRECATION } from '../modes/ipvs/index.ts';
import type { Family } from '../net/index.ts';
import { type EventContent, nodeReference, type ObjectReference } from '../observe/events/index.ts';
import { type ServiceHealthFailure, serviceHealthNote } from '../observe/health/index.ts';

const START = 'StartKubeProxy';

/** The Events that this node's proxy writes. */
export function eventsOf(nodeName: string) {
  const node = nodeReference(nodeName);
  return {
    birth: (): EventContent => ({ type: 'Normal', reason: 'Starting', action: START, regarding: node, note: '' }),

    ipvsDeprecated: (): EventContent => ({ ...IPVS_DEPRECATION, regarding: node }),

    serverFailed: (server: 'healthz' | 'metrics', error: string): EventContent => ({
      type: 'Warning',
      reason: server === 'healthz' ? 'FailedToStartProxierHealthcheck' : 'FailedToStartMetricServer',
      action: START,
      regarding: node,
      note: error,
    }),

    healthPortFailed: (service: ObjectReference, failure: ServiceHealthFailure): EventContent => ({
      type: 'Warning',
      reason: 'FailedToStartServiceHealthcheck',
      action: 'Listen',
      regarding: service,
      related: node,
      note: serviceHealthNote(nodeName, failure),
    }),

    setAside: (service: ObjectReference, { family, servicePort, error }: SetAside): EventContent => ({
      type: 'Warning',
      reason: 'SetAside',
      action: 'Program',
      regarding: service,
      related: node,
      note: `node ${nodeName} does not serve ${servicePort} in ${family} as it should: ${error}`,
    }),

    driftRepaired: (family: Family, what: string): EventContent => ({
      type: 'Warning',
      reason: 'DriftRepaired',
      action: 'Repair',
      regarding: node,
      note: `someone else changed the ${family} rules of kube-proxy, which were put right: ${what}`,
    }),
  };
}

/** Of `ns/name` or `ns/name:port`. */
export function namesOf(servicePort: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', rest = ''] = servicePort.split('/');
  const [name = ''] = rest.split(':');
  return { namespace, name };
}
