import { Model } from '../../src/model/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { Planner, type ServicePortPlan } from '../../src/plan/index.ts';
import { service, slice } from './objects.ts';

/** The IPv4 plan of a Service with one port and these endpoints. */
export function planOf(name: string, endpoints: readonly string[]): ServicePortPlan {
  const model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  const planner = new Planner(model, {
    node: { name: 'node-a', zone: 'zone-a' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: undefined,
    masqueradeAll: false,
    allowExternalIPs: true,
  });
  model.setService(service(name));
  if (endpoints.length > 0) model.setEndpointSlice(slice(`${name}-1`, [...endpoints]));
  const [plan] = planner.update(model.take()).added;
  if (!plan) throw new Error(`there is no plan of ${name}`);
  return plan;
}

/** A plan that no mode can render: a fault of this program that no object is known to cause. */
export function brokenPlan(name: string): ServicePortPlan {
  return Object.defineProperty({ ...planOf(name, ['10.244.1.2']) }, 'frontends', {
    get: () => {
      throw new Error('no frontends');
    },
  });
}
