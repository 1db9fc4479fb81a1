import assert from 'node:assert/strict';
import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { type Row, rowsOf } from '../../src/demo/rows.ts';
import type { OutcomeContext } from '../../src/explain/index.ts';
import { parseNodePortAddresses } from '../../src/model/index.ts';
import { PLAN_BEHAVIOUR } from '../../src/modes/index.ts';
import { type Family, type Ip, parseIp } from '../../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';
import { node } from './objects.ts';

/** The rows of a demo with these objects. */
export function demoRows(objects: readonly (Service | EndpointSlice)[]): readonly Row[] {
  return rowsOf(demoState(objects), family => (family === 'IPv4' ? [address('192.168.0.2')] : []));
}

export function demoState(objects: readonly (Service | EndpointSlice)[]): ProxyState {
  const state = new ProxyState({
    nodeName: 'node-a',
    settings: { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: ['10.244.0.0/16', 'fd00:10:244::/48'] },
    startedAt: 0,
    report: ({ message }) => assert.fail(message),
  });
  state.nodeChanged({ type: 'added', to: node('node-a', { internalIPs: ['192.168.0.2'] }) });
  for (const object of objects) {
    if (object.kind === 'Service') state.serviceChanged({ type: 'added', to: object });
    else state.endpointSliceChanged({ type: 'added', to: object });
  }
  state.take();
  return state;
}

/** What outcomes in a demo depend on besides plans, in a mode that does what plans say. */
export function demoContext(family: Family): OutcomeContext {
  const settings = {
    localDetector: { kind: 'interface', name: 'cni0' },
    masqueradeAll: false,
    nodePortAddresses: parseNodePortAddresses(family, []),
    nodePortIPs: [],
    serviceCIDRs: [],
  } as const;
  const nodeIPs = ['192.168.0.2', '10.244.1.1', 'fd00:192:168::2', 'fd00:10:244:1::1'].map(address);
  return { mode: { behaviour: PLAN_BEHAVIOUR }, settings, nodeIPs };
}

export function address(text: string): Ip {
  const ip = parseIp(text);
  assert.ok(ip);
  return ip;
}
