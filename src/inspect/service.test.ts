import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { factsOf } from '../../test/support/explain-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Facts } from '../explain/index.ts';
import { History } from '../history/index.ts';
import { serviceRoute } from './service.ts';
import type { ServiceDetail } from './service-detail.ts';

const WEB = service('shop/web', {
  type: 'NodePort',
  externalTrafficPolicy: 'Local',
  hasSelector: true,
  ports: [{ name: 'http', nodePort: 30080 }],
  annotations: { 'pointsman.dev/balance': 'round-robin' },
});
const ENDPOINTS = slice(
  'shop/web-1',
  [
    {
      ip: '10.244.1.10',
      nodeName: 'node-a',
      zone: 'zone-a',
      targetRef: { kind: 'Pod', namespace: '', name: 'web-1' },
      zoneHints: ['zone-a'],
    },
    { ip: '10.244.2.10', nodeName: 'node-b', zoneHints: ['zone-b'] },
    { ip: '10.244.2.11', nodeName: 'node-b', ready: false, serving: false, terminating: true },
  ],
  { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] },
);

async function ask(url: string, facts: Facts) {
  const history = new History();
  history.listed();
  const counts = new Map([['shop/web', 7]]);
  const { status, lines } = await askRoute(
    serviceRoute({ facts: () => facts, history, lastCounts: () => counts }),
    url,
  );
  return { status, detail: lines[0] as ServiceDetail & { schema: string; error: string } };
}

test('INSPECT-29 a Service has its row, its object and the zone of this node', async () => {
  const { status, detail } = await ask('/v1/service?name=shop/web', factsOf([WEB, ENDPOINTS]));
  assert.equal(status, 200);
  assert.equal(detail.schema, 'pointsman.service/v1');
  assert.deepEqual([detail.row.name, detail.row.state, detail.row.connections], ['web', 'programmed', 7]);
  assert.deepEqual(detail.object, {
    labels: {},
    annotations: { 'pointsman.dev/balance': 'round-robin' },
    hasSelector: true,
  });
  assert.equal(detail.zone, 'zone-a');
});

test('INSPECT-29 each frontend says what callers of each place get', async () => {
  const { detail } = await ask('/v1/service?name=shop/web', factsOf([WEB, ENDPOINTS]));
  const [port] = detail.ports;
  assert.deepEqual(
    port?.frontends.map(({ kind, answering }) => [kind, answering]),
    [
      ['ClusterIP', { pod: 1, node: 1, outside: 1 }],
      ['NodePort', { pod: 1, node: 1, outside: 1 }],
    ],
  );
  const [clusterIP] = port?.frontends ?? [];
  const { pod, node, outside } = clusterIP?.outcomes ?? assert.fail();
  assert.ok(pod.kind === 'answered' && node.kind === 'answered' && outside.kind === 'answered');
  assert.deepEqual(
    [pod, node, outside].map(({ endpoints }) => endpoints.map(({ text, seenAs }) => `${text} ${seenAs}`)),
    [['10.244.1.10:8080 itself'], ['10.244.1.10:8080 node'], ['10.244.1.10:8080 node']],
  );
  // No address of a caller is real, so none is shown.
  assert.deepEqual(
    pod.endpoints.map(({ sourceIP }) => sourceIP),
    [undefined],
  );
  assert.doesNotMatch(JSON.stringify(clusterIP?.outcomes), /0\.0\.0\.0[^/]|10\.244\.0\.0[^/]/);
});

test('INSPECT-29 ranges of allowed callers do not count, because the caller has no address', async () => {
  const balancer = service('lb', {
    type: 'LoadBalancer',
    ingress: [{ ip: '203.0.113.1' }],
    loadBalancerSourceRanges: ['198.51.100.0/24'],
  });
  const { detail } = await ask('/v1/service?name=lb', factsOf([balancer, slice('lb-1', ['10.244.1.10'])]));
  const frontend = detail.ports[0]?.frontends.find(({ kind }) => kind === 'LoadBalancerIP');
  assert.deepEqual(frontend?.sourceRanges, ['198.51.100.0/24']);
  assert.equal(frontend?.outcomes.outside.kind, 'answered');
});

test('INSPECT-29 ranges that contain no pod turn pods away', async () => {
  const outcomeOf = async (range: string) => {
    const spec = { type: 'LoadBalancer', ingress: [{ ip: '203.0.113.1' }], loadBalancerSourceRanges: [range] };
    const { detail } = await ask('/v1/service?name=lb', factsOf([service('lb', spec), slice('lb-1', ['10.244.1.10'])]));
    const frontend = detail.ports[0]?.frontends.find(({ kind }) => kind === 'LoadBalancerIP');
    return frontend?.outcomes.pod;
  };
  assert.deepEqual(await outcomeOf('198.51.100.0/24'), {
    kind: 'silent',
    code: 'source-ranges',
    reason: 'loadBalancerSourceRanges (198.51.100.0/24) does not contain pods (10.244.0.0/16)',
  });
  assert.equal((await outcomeOf('10.244.7.0/24'))?.kind, 'answered');
  assert.equal((await outcomeOf('10.0.0.0/8'))?.kind, 'answered');
});

test('INSPECT-29 a node port says which address of the node the outcomes are about', async () => {
  const { detail } = await ask('/v1/service?name=shop/web', factsOf([WEB, ENDPOINTS]));
  const [clusterIP, nodePort] = detail.ports[0]?.frontends ?? [];
  assert.equal(clusterIP?.askedAt, clusterIP?.address);
  assert.match(nodePort?.askedAt ?? '', /^\d+(\.\d+){3}$/);
});

test('INSPECT-29 each endpoint has its pod, place, hints, conditions and reasons', async () => {
  const { detail } = await ask('/v1/service?name=shop/web', factsOf([WEB, ENDPOINTS]));
  const [local, remote, ending] = detail.ports[0]?.endpoints ?? [];
  assert.deepEqual(
    { ...local, clusterPolicy: local?.clusterPolicy?.used, localPolicy: local?.localPolicy?.used },
    {
      address: '10.244.1.10:8080',
      node: 'node-a',
      local: true,
      clusterPolicy: true,
      localPolicy: true,
      ready: true,
      serving: true,
      terminating: false,
      pod: 'shop/web-1',
      zone: 'zone-a',
      slice: 'shop/web-1',
      hints: ['zone-a'],
    },
  );
  assert.deepEqual([remote?.pod, remote?.zone, remote?.ready], [undefined, undefined, true]);
  assert.deepEqual([ending?.ready, ending?.serving, ending?.terminating], [false, false, true]);
  assert.equal(ending?.clusterPolicy?.used, false);
});

test('INSPECT-29 an address that another Service owns is a conflict', async () => {
  const [owner, other] = [
    service('owner', { externalIPs: ['1.2.3.4'] }),
    service('other', { clusterIP: '10.96.0.9', externalIPs: ['1.2.3.4'] }),
  ];
  const facts = factsOf([owner, other]);
  const details = await Promise.all(
    ['owner', 'other'].map(async name => (await ask(`/v1/service?name=${name}`, facts)).detail),
  );
  const conflicts = details.flatMap(({ ports }) => ports.flatMap(port => port.conflicts));
  assert.equal(conflicts.length, 1);
  assert.equal(conflicts[0]?.address, 'ExternalIP 1.2.3.4:80');
});

test('INSPECT-29 very many endpoints are cut, and their number stays', async () => {
  const ips = Array.from({ length: 1200 }, (_, i) => `10.244.${i >> 8}.${i & 255}`);
  const { detail } = await ask('/v1/service?name=web', factsOf([service('web'), slice('web-1', ips)]));
  const [port] = detail.ports;
  const pod = port?.frontends[0]?.outcomes.pod;
  assert.ok(pod?.kind === 'answered');
  assert.deepEqual(
    [port?.endpoints.length, port?.endpointCount, pod.endpoints.length, port?.frontends[0]?.answering.pod],
    [1000, 1200, 100, 1200],
  );
});

test('INSPECT-29 an object that cannot be used has a row with the problem', async () => {
  const facts = factsOf([], {
    problems: [{ object: 'Service default/web', field: 'spec.ports', message: 'is missing' }],
  });
  const { status, detail } = await ask('/v1/service?name=web', facts);
  assert.deepEqual([status, detail.row.state, detail.object, detail.ports], [200, 'problem', undefined, []]);
  assert.deepEqual(detail.row.reasons, ['spec.ports is missing']);
});

test('INSPECT-29 an unknown Service is an error that names the nearest one', async () => {
  const { status, detail } = await ask('/v1/service?name=shop/wbe', factsOf([WEB]));
  assert.deepEqual([status, detail.error], [404, 'there is no Service "shop/wbe": did you mean shop/web?']);
  assert.equal((await ask('/v1/service', factsOf([WEB]))).status, 400);
});

test('INSPECT-29 a Service with many ports and endpoints is cut, and computed with breaks', async () => {
  const ports = Array.from({ length: 20 }, (_, i) => ({ name: `p${i}`, protocol: 'TCP' as const, port: 1000 + i }));
  const ips = Array.from({ length: 2000 }, (_, i) => `10.244.${i >> 8}.${i & 255}`);
  const facts = factsOf([service('shop/wide', { ports }), slice('shop/wide-1', ips, { ports })]);
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const { detail } = await ask('/v1/service?name=shop/wide', facts).finally(() => clearImmediate(timer));
  assert.ok(turns > 10, `${turns} turns of the event loop`);
  assert.equal(detail.ports.length, 20);
  for (const { endpoints, endpointCount, frontends } of detail.ports) {
    assert.deepEqual([endpoints.length, endpointCount], [250, 2000]);
    const [frontend] = frontends;
    const { pod } = frontend?.outcomes ?? {};
    assert.deepEqual([pod?.kind === 'answered' && pod.endpoints.length, frontend?.answering.pod], [100, 2000]);
  }
});
