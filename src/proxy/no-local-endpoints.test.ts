import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { DEFAULT_PLAN_SETTINGS } from '../plan/index.ts';
import { NoLocalEndpoints } from './no-local-endpoints.ts';
import { ProxyState } from './proxy-state.ts';

test('SYNC-4 service ports with policy Local that have endpoints on other nodes only are counted by policy', () => {
  const state = new ProxyState({
    nodeName: 'node-a',
    settings: DEFAULT_PLAN_SETTINGS,
    startedAt: 0,
    report: () => {},
  });
  const noLocalEndpoints = new NoLocalEndpoints();
  const counted = () => {
    noLocalEndpoints.apply(state.take().IPv4.plans);
    return noLocalEndpoints.counts;
  };
  const nodePort = { type: 'NodePort', ports: [{ nodePort: 30080 }], externalTrafficPolicy: 'Local' };
  const both = service('default/both', { ...nodePort, internalTrafficPolicy: 'Local' });
  const outside = service('default/outside', { ...nodePort, clusterIP: '10.96.0.2', ports: [{ nodePort: 30081 }] });
  const inside = service('default/inside', { internalTrafficPolicy: 'Local', clusterIP: '10.96.0.3' });
  for (const object of [both, outside, inside]) state.serviceChanged({ type: 'added', to: object });
  const endpoint = (nodeName: string) => [{ ip: '10.244.1.5', nodeName }];
  state.endpointSliceChanged({ type: 'added', to: slice('default/both-1', endpoint('node-b')) });
  state.endpointSliceChanged({ type: 'added', to: slice('default/outside-1', endpoint('node-b')) });
  assert.deepEqual(counted(), { internal: 1, external: 2 }, 'a Service without any endpoint does not count');

  const local = slice('default/outside-1', endpoint('node-a'));
  state.endpointSliceChanged({ type: 'updated', from: local, to: local });
  state.serviceChanged({ type: 'removed', from: both });
  assert.deepEqual(counted(), { internal: 0, external: 0 });
});
