import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProxySocket } from '../proxy-socket.ts';
import { serviceFromManifests, serviceFromProxy } from './known-service.ts';

function proxyWith(lines: readonly unknown[], asked: string[] = []): ProxySocket {
  return {
    path: '/run/proxy.sock',
    ask: async () => undefined,
    text: async () => '',
    async *lines(question) {
      asked.push(question);
      yield* lines;
    },
  };
}

const ROW = {
  namespace: 'shop',
  name: 'web',
  type: 'NodePort',
  addresses: ['10.96.0.10', '203.0.113.1'],
  ports: ['80:30080/TCP', '53/UDP'],
};

test('TRACE-9 the running proxy knows the addresses and ports of a Service', async () => {
  const asked: string[] = [];
  const find = serviceFromProxy(proxyWith([{ schema: 'pointsman.services/v1' }, ROW], asked));
  assert.deepEqual(await find('shop', 'web'), {
    key: 'shop/web',
    addresses: ['10.96.0.10', '203.0.113.1'],
    ports: [
      { name: undefined, port: 80, nodePort: 30080, protocol: 'TCP' },
      { name: undefined, port: 53, nodePort: undefined, protocol: 'UDP' },
    ],
  });
  assert.deepEqual(asked, ['/v1/services?name=shop%2Fweb']);
});

test('TRACE-9 a Service that the proxy does not know is an error with a way out', async () => {
  const find = serviceFromProxy(proxyWith([{ schema: 'pointsman.services/v1' }]));
  await assert.rejects(find('shop', 'web'), /knows no Service shop\/web: give its address instead/);
});

test('TRACE-9 manifests have Services, too', async () => {
  const find = serviceFromManifests('test/cases/nodeport-local/objects.yaml');
  const { addresses, ports } = await find('default', 'npl');
  assert.deepEqual(addresses, ['10.96.0.42']);
  assert.deepEqual(ports, [{ name: undefined, port: 80, nodePort: 30042, protocol: 'TCP' }]);
  await assert.rejects(find('default', 'other'), /has no Service default\/other/);
});
