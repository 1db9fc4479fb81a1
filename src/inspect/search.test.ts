import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { factsOf } from '../../test/support/explain-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import { searchRoute } from './search.ts';
import type { SearchAnswer } from './service-detail.ts';

const FACTS = factsOf([
  service('shop/web', {
    type: 'LoadBalancer',
    ports: [{ nodePort: 30080 }],
    externalIPs: ['198.51.100.7'],
    ingress: [{ ip: '203.0.113.1' }],
  }),
  slice('shop/web-1', [
    { ip: '10.244.1.10', nodeName: 'node-a', targetRef: { kind: 'Pod', namespace: '', name: 'web-7f9' } },
    { ip: '10.244.2.10', nodeName: 'node-b' },
    { ip: '10.244.2.11', nodeName: 'node-b' },
  ]),
  service('dns', { clusterIP: 'fd00:10:96::a' }),
  slice('dns-1', ['fd00:10:244::1']),
  slice('orphan', ['10.244.1.10'], { service: '' }),
]);

async function ask(q: string) {
  const { status, lines } = await askRoute(
    searchRoute(() => FACTS),
    `/v1/search?q=${encodeURIComponent(q)}`,
  );
  return { status, answer: lines[0] as SearchAnswer & { schema: string; error: string } };
}

async function found(q: string): Promise<readonly string[]> {
  const { answer } = await ask(q);
  return answer.results.map(({ service: key, kind, why }) => `${key}, ${kind}: ${why}`);
}

test('INSPECT-31 a search finds Services by their addresses and ports', async () => {
  assert.deepEqual(await found('10.96.0.1'), ['shop/web, address: cluster IP 10.96.0.1']);
  assert.deepEqual(await found('198.51.'), ['shop/web, address: external IP 198.51.100.7']);
  assert.deepEqual(await found('203.0.113.1'), ['shop/web, address: load-balancer IP 203.0.113.1']);
  assert.deepEqual(await found('FD00:10:96:0::A'), ['default/dns, address: cluster IP fd00:10:96::a']);
  assert.deepEqual(await found('30080'), ['shop/web, port: node port 30080/TCP']);
  assert.deepEqual(await found('80'), ['shop/web, port: port 80/TCP', 'default/dns, port: port 80/TCP']);
});

test('INSPECT-31 a search finds Services by their endpoints, pods and nodes', async () => {
  assert.deepEqual(await found('10.244.1.10'), ['shop/web, endpoint: endpoint 10.244.1.10 is pod shop/web-7f9']);
  assert.deepEqual(await found('Web-7F9'), ['shop/web, pod: endpoint 10.244.1.10 is pod shop/web-7f9']);
  assert.deepEqual(await found('shop/web-7'), ['shop/web, pod: endpoint 10.244.1.10 is pod shop/web-7f9']);
  assert.deepEqual(await found('node-b'), ['shop/web, node: endpoint 10.244.2.10 is on node node-b']);
  assert.deepEqual(await found('8080'), [
    'shop/web, port: endpoint port 8080/TCP',
    'default/dns, port: endpoint port 8080/TCP',
  ]);
  assert.deepEqual(await found('nothing'), []);
});

test('INSPECT-31 a search has 200 results at most, and needs two characters', async () => {
  const services = Array.from({ length: 300 }, (_, i) => service(`s${i}`, { clusterIP: `10.97.${i >> 8}.${i & 255}` }));
  const facts = factsOf(services);
  const { lines } = await askRoute(
    searchRoute(() => facts),
    '/v1/search?q=10.97',
  );
  assert.deepEqual([lines[0].results.length, lines[0].isCut, lines[0].schema], [200, true, 'pointsman.search/v1']);
  const short = await ask('a');
  assert.deepEqual([short.status, short.answer.error], [400, 'the search needs two characters or more']);
  assert.equal((await ask('30080')).answer.isCut, false);
});
