import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProxySocket } from '../proxy-socket.ts';
import { serviceFromManifests, serviceFromProxy } from './known-service.ts';

function proxyWith(lines: readonly unknown[], asked: string[] = []): ProxySocket {
  return {
    path: '/run/proxy.sock',
    open: async () => assert.fail('not asked'),
    ask: async () => undefined,
    text: async () => '',
    async *lines(question) {
      asked.push(question);
      yield* lines;
    },
  };
}

const REPORT = {
  namespace: 'shop',
  name: 'web',
  ports: [
    {
      name: 'http',
      protocol: 'TCP',
      family: 'IPv4',
      frontends: [
        { kind: 'cluster', address: '10.96.0.10', port: 80 },
        { kind: 'nodePort', acceptedAt: 'all', port: 30080 },
      ],
    },
  ],
};

test('TRACE-9 the running proxy knows the frontends of a Service', async () => {
  const asked: string[] = [];
  const find = serviceFromProxy(proxyWith([{ schema: 'pointsman.plans/v1', node: 'a' }, REPORT], asked));
  assert.deepEqual(await find('shop', 'web'), {
    key: 'shop/web',
    ports: [
      {
        name: 'http',
        protocol: 'TCP',
        frontends: [
          { address: '10.96.0.10', port: 80 },
          { address: 'node', port: 30080 },
        ],
      },
    ],
  });
  assert.deepEqual(asked, ['/v1/plan?service=shop%2Fweb']);
});

test('TRACE-9 manifests have Services, too', async () => {
  const find = serviceFromManifests('test/cases/nodeport-local/objects.yaml');
  const frontends = [
    { address: '10.96.0.42', port: 80 },
    { address: 'node', port: 30042 },
  ];
  assert.deepEqual(await find('default', 'npl'), {
    key: 'default/npl',
    ports: [{ name: '', protocol: 'TCP', frontends }],
  });
  await assert.rejects(find('default', 'other'), /has no Service default\/other/);
});
