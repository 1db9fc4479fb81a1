import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askRoute } from '../../test/support/ask-route.ts';
import { listingFacts } from '../../test/support/listing-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Facts } from '../explain/index.ts';
import type { ConnectedSocket, SocketReading } from '../modes/index.ts';
import type { Ip } from '../net/index.ts';
import { socketCountsRoute, socketsRoute } from './sockets.ts';

const pod = (name: string) => ({ targetRef: { kind: 'Pod', namespace: 'default', name } });

const SERVICES = [
  service('web', { type: 'NodePort', ports: [{ name: 'http', nodePort: 30080 }] }),
  service('six', { clusterIP: 'fd00::1' }),
];
const SLICES = [
  slice(
    'web-1',
    [
      { ip: '10.1.0.1', nodeName: 'node-b', ...pod('web-1') },
      { ip: '10.1.0.2', nodeName: 'node-b', ready: false, serving: false, ...pod('web-2') },
    ],
    { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] },
  ),
  slice('six-1', [{ ip: 'fd00:1::1', nodeName: 'node-a', ...pod('six-1') }]),
  // The caller is an endpoint of another Service of this node. On another node the same address is another pod.
  slice('shop/api-1', [
    { ip: '10.1.0.9', nodeName: 'node-a', targetRef: { kind: 'Pod', namespace: '', name: 'api-0' } },
  ]),
  slice('old-1', [{ ip: '10.1.0.9', nodeName: 'node-c', ...pod('old-0') }]),
];

function socket(to: string, endpoint: string, caller: string, more: Partial<ConnectedSocket> = {}): ConnectedSocket {
  return {
    service: address(to),
    endpoint: address(endpoint),
    caller: address(caller),
    isOfNode: false,
    state: 'ESTAB',
    ...more,
  };
}

function address(text: string): ConnectedSocket['service'] {
  const [, ip, port] = /^\[?(.+?)\]?:(\d+)$/.exec(text) ?? [];
  return { ip: ip as Ip, port: Number(port) };
}

function factsWith(sockets: readonly ConnectedSocket[], more: Partial<SocketReading> = {}): Facts {
  const facts = listingFacts({ services: SERVICES, slices: SLICES, families: ['IPv4', 'IPv6'] });
  const kernel = {
    readBack: () => assert.fail('the route reads sockets only'),
    sockets: async () => ({ sockets, count: sockets.length, ...more }),
  };
  return { ...facts, interfaceIPs: ['192.168.0.1' as Ip], kernel };
}

const WEB = socket('10.96.0.1:80', '10.1.0.1:8080', '10.1.0.9:40001');
const BY_NODE_PORT = socket('192.168.0.1:30080', '10.1.0.2:8080', '192.168.0.1:40002', { isOfNode: true });
const SIX = socket('[fd00::1]:80', '[fd00:1::1]:8080', '[fd00:1::9]:40003', { state: 'SYN-SENT' });
const REMOVED = socket('10.96.0.7:80', '10.1.0.7:8080', '10.1.0.9:40004');

async function rowsOf(facts: Facts, question = '') {
  const { status, lines } = await askRoute(
    socketsRoute(() => facts),
    `/v1/sockets${question}`,
  );
  const [head, ...rows] = lines;
  return { status, head, rows };
}

test('SOCKETS-5 a row has the Service, its port, and the pods of the endpoint and of the caller', async () => {
  const { head, rows } = await rowsOf(factsWith([WEB]));
  assert.deepEqual(head, { schema: 'pointsman.sockets/v1', node: 'node-a', mode: 'nftables', isAvailable: true });
  assert.deepEqual(rows, [
    {
      service: 'default/web',
      port: 'http',
      endpointUse: 'used',
      endpointPod: 'default/web-1',
      address: '10.96.0.1:80',
      endpoint: '10.1.0.1:8080',
      caller: '10.1.0.9:40001',
      callerPod: 'shop/api-0',
      state: 'ESTAB',
      isOfNode: false,
    },
  ]);
});

test('SOCKETS-5 a node port belongs to its Service at every address of the node', async () => {
  const { rows } = await rowsOf(factsWith([BY_NODE_PORT]));
  assert.deepEqual(
    rows.map(({ service, port, isOfNode, callerPod }) => [service, port, isOfNode, callerPod]),
    [['default/web', 'http', true, undefined]],
  );
});

test('SOCKETS-5 an address that no Service has any more is shown without a Service', async () => {
  const { rows } = await rowsOf(factsWith([REMOVED]));
  const [{ service, endpointUse, address: asked, endpoint }] = rows;
  assert.deepEqual([service, endpointUse, asked, endpoint], [undefined, undefined, '10.96.0.7:80', '10.1.0.7:8080']);
});

test('SOCKETS-6 an endpoint is used, unused, or gone', async () => {
  const gone = socket('10.96.0.1:80', '10.1.0.3:8080', '10.1.0.9:40005');
  const { rows } = await rowsOf(factsWith([WEB, BY_NODE_PORT, gone, SIX]));
  assert.deepEqual(
    rows.map(({ endpoint, endpointUse, endpointPod }) => [endpoint, endpointUse, endpointPod]),
    [
      ['10.1.0.1:8080', 'used', 'default/web-1'],
      ['10.1.0.2:8080', 'unused', 'default/web-2'],
      ['10.1.0.3:8080', 'gone', undefined],
      ['[fd00:1::1]:8080', 'used', 'default/six-1'],
    ],
  );
});

test('SOCKETS-7 a name or a glob chooses Services, and a missing one is an error with the nearest name', async () => {
  const facts = factsWith([WEB, SIX, REMOVED]);
  const servicesOf = async (question: string) => (await rowsOf(facts, question)).rows.map(row => row.service);
  assert.deepEqual(await servicesOf('?service=web'), ['default/web']);
  assert.deepEqual(await servicesOf('?service=default/s*'), ['default/six']);
  assert.deepEqual(await servicesOf(''), ['default/web', 'default/six', undefined]);
  const { status, head } = await rowsOf(facts, '?service=wbe');
  assert.equal(status, 400);
  assert.match(head.error, /there is no Service "default\/wbe": did you mean default\/web\?/);
});

test('SOCKETS-8 counts are by Service, port and endpoint, with the callers that have the most sockets', async () => {
  const others = Array.from({ length: 11 }, (_, i) => socket('10.96.0.1:80', '10.1.0.1:8080', `10.2.0.${i}:1`));
  const facts = factsWith([REMOVED, WEB, WEB, BY_NODE_PORT, ...others]);
  const { lines } = await askRoute(
    socketCountsRoute(() => facts),
    '/v1/socket-counts',
  );
  const [{ endpoints, ...head }] = lines;
  assert.deepEqual(head, {
    schema: 'pointsman.socket-counts/v1',
    node: 'node-a',
    mode: 'nftables',
    isAvailable: true,
    sockets: 15,
    endpointCount: 3,
  });
  const [first, ...rest] = endpoints;
  assert.deepEqual(
    [first.service, first.port, first.endpoint, first.sockets, first.callerCount, first.callers.length],
    ['default/web', 'http', '10.1.0.1:8080', 13, 12, 10],
  );
  assert.deepEqual(first.callers[0], { name: 'shop/api-0', sockets: 2 });
  assert.deepEqual(rest, [
    {
      service: 'default/web',
      port: 'http',
      endpoint: '10.1.0.2:8080',
      endpointPod: 'default/web-2',
      endpointUse: 'unused',
      sockets: 1,
      callers: [{ name: 'node', sockets: 1 }],
      callerCount: 1,
    },
    {
      address: '10.96.0.7:80',
      endpoint: '10.1.0.7:8080',
      sockets: 1,
      callers: [{ name: 'shop/api-0', sockets: 1 }],
      callerCount: 1,
    },
  ]);
});

test('SOCKETS-8 an answer has at most 2,000 endpoints, those with the most sockets', async () => {
  const many = Array.from({ length: 2001 }, (_, i) =>
    socket('10.96.0.7:80', `10.3.${i >> 8}.${i & 255}:80`, '10.1.0.9:1'),
  );
  const [last] = many.slice(-1);
  const facts = factsWith([...many, ...(last ? [last] : [])]);
  const { lines } = await askRoute(
    socketCountsRoute(() => facts),
    '/v1/socket-counts',
  );
  const [{ endpoints, endpointCount, sockets }] = lines;
  assert.deepEqual([endpoints.length, endpointCount, sockets], [2000, 2001, 2002]);
  assert.ok(endpoints.some((each: { sockets: number }) => each.sockets === 2));
});

test('SOCKETS-9 other modes say that they do not lead sockets to endpoints, and how to see connections', async () => {
  const facts = listingFacts({ services: SERVICES });
  const { status, head, rows } = await rowsOf(facts);
  assert.deepEqual([status, rows.length, head.isAvailable], [200, 0, false]);
  assert.match(head.note, /^the mode nftables does not lead sockets to endpoints\. .* conntrack -L/);
});

test('SOCKETS-9 an incomplete reading says why', async () => {
  const { head } = await rowsOf(factsWith([], { incomplete: 'the process lacks CAP_PERFMON' }));
  assert.deepEqual([head.isAvailable, head.note], [true, 'the process lacks CAP_PERFMON']);
});
