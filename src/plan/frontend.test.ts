import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { type LocalDetector, Model } from '../model/index.ts';
import { type Ip, parseCidr } from '../net/index.ts';
import type { Frontend } from './frontend.ts';
import { type PlanOptions, planService } from './service-port-plan.ts';

const cidr = parseCidr('10.244.0.0/16');
assert.ok(cidr);
const DETECTOR: LocalDetector = { kind: 'source-cidr', cidr };
const OPTIONS: PlanOptions = {
  node: { name: 'node-a', zone: '' },
  nodeIP: '192.168.0.2' as Ip,
  localDetector: DETECTOR,
  masqueradeAll: false,
  allowExternalIPs: true,
};

const local = { ip: '10.244.1.1', nodeName: 'node-a' };
const remote = { ip: '10.244.2.1', nodeName: 'node-b' };

function plan(
  overrides: Parameters<typeof service>[1],
  endpoints: Parameters<typeof slice>[1],
  options: Partial<PlanOptions> = {},
): readonly Frontend[] {
  const model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  model.setService(service('s', overrides));
  model.setEndpointSlice(slice('s-1', endpoints));
  model.take();
  const state = model.service('default/s');
  assert.ok(state);
  return planService(state, { ...OPTIONS, ...options })[0]?.frontends ?? [];
}

const everything = {
  type: 'LoadBalancer',
  externalIPs: ['1.1.1.1'],
  ingress: [{ ip: '2.2.2.2' }],
  ports: [{ port: 80, nodePort: 30080 }],
} as const;

/** `kind address action policy short-circuit masquerade` of each frontend. */
const lines = (frontends: readonly Frontend[]) =>
  frontends.map(
    ({ kind, ip, port, action, policy, shortCircuit, masquerade }) =>
      `${kind} ${ip ?? '*'}:${port} ${action} ${policy} ${shortCircuit} ${masquerade}`,
  );

describe('the frontends of a service port', () => {
  test('PLAN-6 frontends are the cluster IP, external IPs, load-balancer IPs and the node port, in this order', () => {
    assert.deepEqual(lines(plan(everything, [local, remote])), [
      'ClusterIP 10.96.0.1:80 forward Cluster none from-outside',
      'ExternalIP 1.1.1.1:80 forward Cluster none always',
      'LoadBalancerIP 2.2.2.2:80 forward Cluster none always',
      'NodePort *:30080 forward Cluster none always',
    ]);
  });

  test('PLAN-6 external IPs that are not allowed are no frontends', () => {
    const kinds = plan(everything, [local], { allowExternalIPs: false }).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['ClusterIP', 'LoadBalancerIP', 'NodePort']);
  });

  test('PLAN-7 without endpoints all frontends reject', () => {
    for (const policy of ['Cluster', 'Local']) {
      const frontends = plan({ ...everything, externalTrafficPolicy: policy }, []);
      assert.deepEqual(new Set(frontends.map(({ action }) => action)), new Set(['reject']));
      assert.deepEqual(new Set(frontends.map(({ shortCircuit }) => shortCircuit)), new Set(['none']));
    }
  });

  test('PLAN-7 drops external traffic when the policy is Local and no endpoint is local', () => {
    assert.deepEqual(lines(plan({ ...everything, externalTrafficPolicy: 'Local' }, [remote])), [
      'ClusterIP 10.96.0.1:80 forward Cluster none from-outside',
      'ExternalIP 1.1.1.1:80 drop Local pods-and-node from-node',
      'LoadBalancerIP 2.2.2.2:80 drop Local pods-and-node from-node',
      'NodePort *:30080 drop Local pods-and-node from-node',
    ]);
  });

  test('PLAN-7 drops internal traffic when the internal policy is Local and no endpoint is local', () => {
    assert.deepEqual(lines(plan({ internalTrafficPolicy: 'Local' }, [remote])), [
      'ClusterIP 10.96.0.1:80 drop Local none from-outside',
    ]);
    assert.deepEqual(lines(plan({ internalTrafficPolicy: 'Local' }, [])), [
      'ClusterIP 10.96.0.1:80 reject Local none from-outside',
    ]);
  });

  test('PLAN-9 with external policy Local pods and the node are short-circuited, without a local detector only the node', () => {
    const overrides = { ...everything, externalTrafficPolicy: 'Local' };
    const nodePort = (options: Partial<PlanOptions>) => lines(plan(overrides, [local, remote], options)).at(-1);
    assert.equal(nodePort({}), 'NodePort *:30080 forward Local pods-and-node from-node');
    assert.equal(nodePort({ localDetector: undefined }), 'NodePort *:30080 forward Local node from-node');
  });

  test('PLAN-8 traffic to the cluster IP is masqueraded from outside, always, or never', () => {
    const clusterIP = (options: Partial<PlanOptions>) => plan({}, [local], options)[0]?.masquerade;
    assert.equal(clusterIP({}), 'from-outside');
    assert.equal(clusterIP({ localDetector: undefined }), 'never');
    assert.equal(clusterIP({ masqueradeAll: true }), 'always');
    assert.equal(clusterIP({ masqueradeAll: true, localDetector: undefined }), 'always');
  });

  test('PLAN-10 source ranges restrict load-balancer IPs only, and say whether they contain the node', () => {
    const firewalls = (ranges: string[]) =>
      plan({ ...everything, loadBalancerSourceRanges: ranges }, [local]).map(({ kind, firewall }) => [
        kind,
        firewall?.includesNode,
      ]);
    assert.deepEqual(firewalls(['203.0.113.0/24']), [
      ['ClusterIP', undefined],
      ['ExternalIP', undefined],
      ['LoadBalancerIP', false],
      ['NodePort', undefined],
    ]);
    assert.equal(firewalls(['203.0.113.0/24', '192.168.0.0/16'])[2]?.[1], true);
    assert.equal(firewalls([])[2]?.[1], undefined);
  });

  test('PLAN-10 source ranges restrict also if there is no endpoint', () => {
    const [, , balancer] = plan({ ...everything, loadBalancerSourceRanges: ['203.0.113.0/24'] }, []);
    assert.equal(balancer?.action, 'reject');
    assert.equal(balancer?.firewall?.sourceRanges.length, 1);
  });
});
