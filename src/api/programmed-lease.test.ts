import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeProgrammedLease, encodeProgrammedLease, type ProgrammedLease } from './programmed-lease.ts';

const LEASE: ProgrammedLease = {
  node: 'node-a',
  services: '120',
  endpointSlices: '121',
  setAside: ['shop/cart', 'shop/web'],
  setAsideCount: 2,
  bootId: 'b7b1',
  renewedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  durationSeconds: 180,
};

test('PROGRAMMED-6 the Lease has the versions, the Services that are set aside, and the time', () => {
  assert.deepEqual(encodeProgrammedLease(LEASE, 'pointsman-nodes', 'uid-1'), {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: 'pointsman-node-a',
      namespace: 'pointsman-nodes',
      labels: { 'app.kubernetes.io/managed-by': 'pointsman' },
      annotations: {
        'pointsman.dev/programmed-services': '120',
        'pointsman.dev/programmed-endpointslices': '121',
        'pointsman.dev/set-aside': 'shop/cart,shop/web',
        'pointsman.dev/set-aside-count': '2',
        'pointsman.dev/boot-id': 'b7b1',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'uid-1' }],
    },
    spec: { holderIdentity: 'node-a', leaseDurationSeconds: 180, renewTime: '2026-01-02T03:04:05.678000Z' },
  });
  assert.deepEqual(decodeProgrammedLease(encodeProgrammedLease(LEASE, 'x', undefined)), LEASE);
});

test('PROGRAMMED-6 the Lease names at most fifty Services that are set aside', () => {
  const setAside = Array.from({ length: 60 }, (_, i) => `shop/web-${i}`);
  const lease = decodeProgrammedLease(encodeProgrammedLease({ ...LEASE, setAside, setAsideCount: 60 }, 'x', undefined));
  assert.equal(lease?.setAside.length, 50);
  assert.equal(lease?.setAsideCount, 60);
});

test('PROGRAMMED-6 a Lease of another program is no report', () => {
  for (const value of [
    undefined,
    {},
    { metadata: { name: 'kube-scheduler' }, spec: { holderIdentity: 'node-a' } },
    { metadata: { name: 'pointsman-node-b' }, spec: { holderIdentity: 'node-a' } },
  ])
    assert.equal(decodeProgrammedLease(value), undefined);
});
