import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BalancedService, healthCheckOf, isBalanced, LoadBalancerAddresses } from './load-balancer-addresses.ts';

function service(uid: string, spec: Partial<BalancedService['spec']> = {}, ip?: string): BalancedService {
  const metadata = { uid, namespace: 'default', name: uid };
  const status = ip === undefined ? {} : { loadBalancer: { ingress: [{ ip }] } };
  return { metadata, spec: { type: 'LoadBalancer', ...spec }, status };
}

describe('the load balancers of the cluster', () => {
  test('CONFORM-6 a Service of type LoadBalancer without a class has one until it is deleted', () => {
    assert.equal(isBalanced(service('a')), true);
    assert.equal(isBalanced(service('a', { type: 'NodePort' })), false);
    assert.equal(isBalanced(service('a', { loadBalancerClass: 'other' })), false);
    const { metadata, ...rest } = service('a');
    assert.equal(isBalanced({ ...rest, metadata: { ...metadata, deletionTimestamp: 'now' } }), false);
  });

  test('CONFORM-6 each has an address of its own, the one that it had, or the one that it asks for', () => {
    const addresses = new LoadBalancerAddresses();
    assert.equal(addresses.of(service('a')), '172.31.1.1');
    assert.equal(addresses.of(service('b')), '172.31.1.2');
    assert.equal(addresses.of(service('a')), '172.31.1.1');
    assert.equal(addresses.of(service('c', {}, '172.31.1.9')), '172.31.1.9');
    assert.equal(addresses.of(service('d', { loadBalancerIP: '172.31.1.7' })), '172.31.1.7');
  });

  test('CONFORM-6 the address of a Service that is gone is free again', () => {
    const addresses = new LoadBalancerAddresses();
    const [a, b] = [service('a'), service('b')];
    for (const each of [a, b]) addresses.of(each);
    assert.deepEqual(addresses.forgetOthers([b]), ['172.31.1.1']);
    assert.equal(addresses.of(service('c')), '172.31.1.1');
  });

  test('CONFORM-6 with externalTrafficPolicy Local its health check asks for endpoints, otherwise for the proxy', () => {
    assert.deepEqual(healthCheckOf(service('a', { healthCheckNodePort: 30001 })), { port: 30001, path: '/' });
    assert.deepEqual(healthCheckOf(service('a')), { port: 10256, path: '/healthz' });
  });
});
