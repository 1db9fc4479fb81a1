import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { inspectionHandler } from '../../inspect/index.ts';
import { asCompleted } from './as-completed.ts';
import type { FleetAnswer, FleetClient, FleetRequest } from './client.ts';
import { fleetRoutes } from './index.ts';
import { pageInWords } from './page-target.ts';

type Reply = (request: FleetRequest) => FleetAnswer | Promise<FleetAnswer>;

const PROXY = '/api/v1/namespaces/kube-system/pods/';

/** Answers lists of pods and nodes, and the questions to each pod. */
function fakeClient(
  pods: readonly object[],
  nodes: readonly string[] | FleetAnswer,
  replies: Record<string, Reply> = {},
): FleetClient & { readonly requests: FleetRequest[] } {
  const requests: FleetRequest[] = [];
  const list = (items: readonly unknown[]) => json(200, { kind: 'List', metadata: {}, items });
  return {
    requests,
    async get(request) {
      requests.push(request);
      const { path } = request;
      if (path.startsWith('/api/v1/nodes?')) {
        return 'status' in nodes ? nodes : list(nodes.map(name => ({ metadata: { name } })));
      }
      if (path.startsWith(`${PROXY.slice(0, -1)}?`)) return list(pods);
      const [, pod = ''] = /pods\/[a-z]+:([^:]+):/.exec(path) ?? [];
      const reply = replies[pod];
      if (!reply) throw new Error(`no reply for ${path}`);
      return await reply(request);
    },
  };
}

function json(status: number, body: unknown): FleetAnswer {
  return { status, text: JSON.stringify(body) };
}

function pod(name: string, node: string, args: readonly string[] = ['--page-bind-address=0.0.0.0:1', '--page-tls-x']) {
  return { metadata: { name }, spec: { nodeName: node, containers: [{ args }] }, status: { phase: 'Running' } };
}

const STATUS = {
  schema: 'pointsman.status/v1',
  version: '0.2.0',
  mode: 'nftables',
  ready: true,
  pending: false,
  families: [
    { family: 'IPv4', lastSync: '2026-01-01T00:00:01Z', servicePorts: { programmed: 5, setAside: 1 } },
    { family: 'IPv6', lastSync: '2026-01-01T00:00:02Z', servicePorts: { programmed: 3, setAside: 0 } },
  ],
  failedSyncs: 2,
  drift: { repairs: 4 },
  watches: [
    { path: '/a', synced: true },
    { path: '/b', synced: false, problem: 'refused' },
  ],
  problems: 6,
};

async function ask(client: FleetClient, path: string, query = '', timeoutMs = 5000) {
  const handle = inspectionHandler({
    routes: fleetRoutes({
      client,
      namespace: 'kube-system',
      selector: 'k8s-app=kube-proxy',
      token: async () => 'secret',
      timeoutMs,
    }),
  });
  const answer = await handle({
    method: 'GET',
    path,
    query: new URLSearchParams(query),
    headers: {},
    disconnected: new AbortController().signal,
  } as Parameters<typeof handle>[0]);
  let text = '';
  if (typeof answer.body === 'string' || answer.body instanceof Uint8Array) text = String(answer.body);
  else for await (const part of answer.body as AsyncIterable<string>) text += part;
  const [head, ...rows] = text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
  return { status: answer.status, head, rows };
}

test('FLEET-2 the page of a pod is found in the flags of its containers', () => {
  assert.deepEqual(pageInWords(['kube-proxy', '--page-bind-address=0.0.0.0:10280', '--page-tls-cert-file=x']), {
    scheme: 'https',
    port: 10280,
  });
  assert.deepEqual(pageInWords(['--page-bind-address', '[::]:5']), { scheme: 'http', port: 5 });
  assert.deepEqual(pageInWords(['--page-bind-address=1.2.3.4:1', '--page-bind-address=1.2.3.4:2']), {
    scheme: 'http',
    port: 2,
  });
  assert.equal(pageInWords(['--page-bind-address=127.0.0.1:10280']), 'loopback');
  assert.equal(pageInWords(['--page-bind-address=[::1]:10280']), 'loopback');
  for (const words of [[], ['--page-bind-address='], ['--page-bind-address'], ['--v=2']]) {
    assert.equal(pageInWords(words), 'none');
  }
});

test('FLEET-2 of two pods of a node the one that stays counts, and nodes without a pod are shown', async () => {
  const leaving = pod('old', 'a');
  const client = fakeClient(
    [{ ...leaving, metadata: { name: 'old', deletionTimestamp: 'now' } }, pod('new', 'a')],
    ['b', 'a'],
    { new: () => json(200, STATUS) },
  );
  const { head, rows } = await ask(client, '/v1/fleet');
  assert.deepEqual(head, { schema: 'pointsman.fleet/v1', nodes: 2, notes: [] });
  assert.deepEqual(rows.map(({ node, pod, silence }) => [node, pod, silence?.kind]).sort(), [
    ['a', 'new', undefined],
    ['b', undefined, 'noProxy'],
  ]);
});

test('FLEET-2 a user who may not list nodes gets a note, and one who may not list pods an error', async () => {
  const forbidden = json(403, { kind: 'Status', message: 'nodes is forbidden' });
  const some = await ask(fakeClient([pod('p', 'a')], forbidden, { p: () => json(200, STATUS) }), '/v1/fleet');
  assert.equal(some.rows.length, 1);
  assert.match(some.head.notes[0], /^cannot list nodes, .*: nodes is forbidden$/);
  const client: FleetClient = { get: async () => json(403, { kind: 'Status', message: 'pods is forbidden' }) };
  const none = await ask(client, '/v1/fleet');
  assert.equal(none.status, 502);
  assert.match(none.head.error, /pods is forbidden \(it needs the right to list pods in the namespace kube-system\)$/);
});

test('FLEET-2 an answer that is not JSON is named by its status', async () => {
  const client = fakeClient(
    [pod('a', 'node-a')],
    { status: 502, text: '<html>Bad Gateway</html>' },
    {
      a: () => ({ status: 503, text: '<html>' }),
    },
  );
  const { head, rows } = await ask(client, '/v1/fleet');
  assert.match(head.notes.join(), /: the API server answered with the status 502$/);
  assert.equal(rows[0].silence.reason, 'the answer (status 503) is not from a Pointsman proxy');
});

test('FLEET-3 nodes are asked through the API server, with the token in a header of its own', async () => {
  const client = fakeClient([pod('p', 'a')], ['a'], { p: () => json(200, STATUS) });
  await ask(client, '/v1/fleet');
  const [, , request] = client.requests;
  assert.equal(request?.path, `${PROXY}https:p:1/proxy/v1/status`);
  assert.deepEqual(request?.headers, { 'pointsman-token': 'secret' });
});

test('FLEET-3 sixteen nodes are asked at a time, and rows come as the answers come', async () => {
  let running = 0;
  let most = 0;
  const finish: (() => void)[] = [];
  const results = asCompleted(Array(40).keys(), 16, async item => {
    most = Math.max(most, ++running);
    await new Promise<void>(resolve => finish.push(resolve));
    running--;
    return item;
  });
  const first = results.next();
  await setImmediate();
  assert.equal(finish.length, 16);
  finish[3]?.();
  assert.deepEqual((await first).value, [3]);
  const rest: number[] = [];
  const timer = setInterval(() => {
    for (const end of finish) end();
  }, 1);
  for await (const batch of results) rest.push(...batch);
  clearInterval(timer);
  assert.equal(rest.length, 39);
  assert.equal(most, 16);
});

test('FLEET-3 no answer is lost that comes while the reader works on another one', async () => {
  const found: number[] = [];
  for await (const batch of asCompleted([1, 2, 3], 16, async item => item)) {
    found.push(...batch);
    await setImmediate();
  }
  assert.deepEqual(found, [1, 2, 3]);
});

test('FLEET-4 a row of the fleet has version, mode, lights, ports and problems of the node', async () => {
  const client = fakeClient([pod('p', 'a')], ['a'], { p: () => json(200, STATUS) });
  const { rows } = await ask(client, '/v1/fleet');
  const [{ milliseconds, ...row }] = rows;
  assert.ok(milliseconds >= 0);
  assert.deepEqual(row, {
    node: 'a',
    pod: 'p',
    version: '0.2.0',
    mode: 'nftables',
    ready: true,
    pending: false,
    watches: { all: 2, synced: 1, problem: 'refused' },
    syncs: { failed: 2, last: '2026-01-01T00:00:02Z' },
    repairs: 4,
    problems: 6,
    servicePorts: { programmed: 8, setAside: 1 },
  });
});

const POLICY = { used: true, reason: 'ready' };

function detail(used: boolean) {
  const conditions = { ready: true, serving: true, terminating: false };
  return {
    schema: 'pointsman.service/v1',
    row: { namespace: 'shop', name: 'cart', state: 'programmed', reasons: [], endpoints: [], changed: 'now' },
    zone: '',
    ports: [
      {
        name: 'http',
        protocol: 'TCP',
        family: 'IPv4',
        internalTrafficPolicy: 'Cluster',
        frontends: [{ kind: 'ClusterIP', address: '10.96.0.1', port: 80, policy: 'Cluster' }],
        endpoints: [
          { address: '10.244.2.2:80', node: 'b', local: false, clusterPolicy: { ...POLICY, used }, ...conditions },
          { address: '10.244.1.1:80', node: 'a', local: true, clusterPolicy: POLICY, ...conditions },
        ],
      },
    ],
  };
}

test('FLEET-5 what nodes know and use of a Service has digests, and the contents come once', async () => {
  const pods = ['a', 'b', 'c', 'd'].map(node => pod(`p-${node}`, node));
  const client = fakeClient(pods, [], {
    'p-a': () => json(200, detail(true)),
    'p-b': () => json(200, detail(true)),
    'p-c': () => json(200, detail(false)),
    'p-d': () => json(404, { schema: 'pointsman.error/v1', error: 'no such Service' }),
  });
  const { head, rows } = await ask(client, '/v1/fleet/service', 'name=shop/cart');
  assert.deepEqual(head, { schema: 'pointsman.fleetService/v1', nodes: 4, notes: [] });
  const [a, b, c, d] = rows;
  assert.match(client.requests.at(-1)?.path ?? '', /\/proxy\/v1\/service\?name=shop%2Fcart$/);
  assert.equal(a.known, c.known);
  assert.notEqual(a.used, c.used);
  assert.deepEqual(b.contents, {});
  assert.deepEqual(Object.keys(c.contents), [c.used]);
  assert.deepEqual(a.contents[a.used].ports, [{ id: 'IPv4 http/TCP', cluster: ['10.244.1.1:80', '10.244.2.2:80'] }]);
  assert.deepEqual(a.contents[a.known].ports[0].frontends, ['ClusterIP 10.96.0.1 80']);
  assert.deepEqual([d.node, d.row, d.known], ['d', undefined, undefined]);
  const wrong = await ask(client, '/v1/fleet/service', 'name=cart');
  assert.deepEqual([wrong.status, wrong.head.error], [400, 'the parameter "name" must be NAMESPACE/NAME']);
});

const status = (code: number, message: string) => () => json(code, { kind: 'Status', code, message });
const error = (code: number, message: string) => () => json(code, { schema: 'pointsman.error/v1', error: message });

const SILENT: readonly { kind: string; reason: RegExp; reply?: Reply; args?: readonly string[] }[] = [
  { kind: 'noPage', reason: /no flag --page-bind-address/, args: ['--v=2'] },
  { kind: 'noPage', reason: /only at a loopback address/, args: ['--page-bind-address=127.0.0.1:1'] },
  {
    kind: 'noPage',
    reason: /no page listens there/,
    reply: status(503, 'error trying to reach service: dial tcp 10.0.0.1:1: connect: connection refused'),
  },
  {
    kind: 'forbidden',
    reason: /needs the right to get pods\/proxy in the namespace kube-system: pods "p" is forbidden/,
    reply: status(403, 'pods "p" is forbidden'),
  },
  { kind: 'token', reason: /does not accept the token: a token is required/, reply: error(401, 'a token is required') },
  { kind: 'otherProgram', reason: /does not know this question/, reply: error(404, 'there is no path') },
  { kind: 'otherProgram', reason: /status 200.* not from a Pointsman/, reply: () => ({ status: 200, text: '<html>' }) },
  { kind: 'otherProgram', reason: /not from a Pointsman/, reply: () => json(200, { schema: 'x/v1' }) },
  { kind: 'otherProgram', reason: /lacks fields/, reply: () => json(200, { schema: 'pointsman.status/v1' }) },
  { kind: 'failed', reason: /^busy$/, reply: error(429, 'busy') },
  { kind: 'failed', reason: /no route to host/, reply: status(503, 'error trying to reach service: no route to host') },
  {
    kind: 'failed',
    reason: /^broken$/,
    reply: () => {
      throw new Error('broken');
    },
  },
  {
    kind: 'timeout',
    reason: /no answer within 0\.05 s/,
    reply: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  },
];

for (const { kind, reason, reply, args } of SILENT) {
  test(`FLEET-9 a node that gives no answer is ${kind}: ${reason.source}`, async () => {
    const client = fakeClient([pod('p', 'a', args)], ['a'], reply ? { p: reply } : {});
    const { rows } = await ask(client, '/v1/fleet', '', 50);
    assert.equal(rows[0].silence.kind, kind);
    assert.match(rows[0].silence.reason, reason);
    assert.deepEqual([rows[0].node, rows[0].pod], ['a', 'p']);
  });
}

test('FLEET-9 a pod that does not run is not asked', async () => {
  const client = fakeClient([{ ...pod('p', 'a'), status: { phase: 'Pending' } }], ['a']);
  const { rows } = await ask(client, '/v1/fleet');
  assert.deepEqual(rows[0].silence, { kind: 'notRunning', reason: 'the pod is Pending' });
});
