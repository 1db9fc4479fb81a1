import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { Model } from '../model/index.ts';
import type { Ip } from '../net/index.ts';
import { localhostNodePort } from './localhost-node-port.ts';
import { planService, type ServicePortPlan } from './service-port-plan.ts';

const LOCAL = { ip: '10.244.1.1', nodeName: 'node-a' };
const REMOTE = { ip: '10.244.2.1', nodeName: 'node-b' };

function plan(
  spec: Parameters<typeof service>[1],
  endpoints: Parameters<typeof slice>[1],
  protocol: 'TCP' | 'UDP' | 'SCTP' = 'TCP',
): ServicePortPlan {
  const model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  model.setService(service('s', { type: 'NodePort', ports: [{ protocol, nodePort: 30080 }], ...spec }));
  model.setEndpointSlice(slice('s-1', endpoints, { ports: [{ name: '', protocol, port: 8080 }] }));
  model.take();
  const [made] = planService(model.service('default/s') ?? assert.fail('no Service'), {
    node: { name: 'node-a', zone: '' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: undefined,
    masqueradeAll: false,
    allowExternalIPs: true,
  });
  return made ?? assert.fail('no plan');
}

/** `listen TCP 30080 to 10.244.1.1:8080`, `reject SCTP 30080` or `nothing`. */
function shown(made: ServicePortPlan, isServed = true): string {
  const nodePort = localhostNodePort(made, isServed);
  if (!nodePort) return 'nothing';
  const { kind, protocol, port } = nodePort;
  const to = nodePort.kind === 'listen' ? ` to ${nodePort.endpoints.map(({ text }) => text).join()}` : '';
  return `${kind} ${protocol} ${port}${to}`;
}

describe('node ports at loopback addresses', () => {
  const local = { externalTrafficPolicy: 'Local' };

  test('PLAN-47 policy Cluster uses all endpoints', () => {
    assert.equal(shown(plan({}, [LOCAL, REMOTE])), 'listen TCP 30080 to 10.244.1.1:8080,10.244.2.1:8080');
    assert.equal(shown(plan({}, [REMOTE], 'UDP')), 'listen UDP 30080 to 10.244.2.1:8080');
  });

  test('PLAN-47 policy Local uses local endpoints only, although the caller is the node', () => {
    assert.equal(shown(plan(local, [LOCAL, REMOTE])), 'listen TCP 30080 to 10.244.1.1:8080');
    assert.equal(shown(plan(local, [REMOTE])), 'nothing');
  });

  test('PLAN-47 the internal policy has no effect', () => {
    const internal = { internalTrafficPolicy: 'Local' };
    assert.equal(shown(plan(internal, [LOCAL, REMOTE])), 'listen TCP 30080 to 10.244.1.1:8080,10.244.2.1:8080');
  });

  test('PLAN-47 nothing listens without an endpoint or without a node port', () => {
    assert.equal(shown(plan({}, [])), 'nothing');
    assert.equal(shown(plan({ type: 'ClusterIP', ports: [{}] }, [LOCAL])), 'nothing');
    assert.equal(shown(plan({ type: 'ClusterIP', ports: [{}] }, [LOCAL]), false), 'nothing');
  });

  test('PLAN-47 SCTP is rejected, and everything is if loopback is not served', () => {
    assert.equal(shown(plan({}, [LOCAL], 'SCTP')), 'reject SCTP 30080');
    assert.equal(shown(plan({}, [LOCAL]), false), 'reject TCP 30080');
    assert.equal(shown(plan({}, [], 'UDP'), false), 'reject UDP 30080');
    assert.equal(shown(plan(local, [REMOTE]), false), 'reject TCP 30080');
  });
});
