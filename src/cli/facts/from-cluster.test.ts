import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { defaultConfiguration } from '../../config/index.ts';
import { fromCluster } from './from-cluster.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

/** The snapshot of a server that answers so. */
async function snapshotFrom(t: TestContext, answer: Answer, timeoutMs?: number) {
  const server = createServer((request, response) => answer(request, response, new URL(request.url ?? '', 'http://x')));
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  t.after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const kubeconfig = join(folder, 'config');
  const config = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${address.port}` } }],
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    'current-context': 'c',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const { clientConnection } = defaultConfiguration();
  return fromCluster({ kubeconfig, context: '', clientConnection, timeoutMs });
}

const KINDS: Readonly<Record<string, string>> = {
  '/api/v1/services': 'Service',
  '/api/v1/nodes': 'Node',
  '/apis/discovery.k8s.io/v1/endpointslices': 'EndpointSlice',
  '/apis/networking.k8s.io/v1/servicecidrs': 'ServiceCIDR',
};

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, code: number, message: string): void {
  send(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message });
}

/** Two Services on each of two pages, and nothing else. */
const answerPages: Answer = (_, response, url) => {
  const kind = KINDS[url.pathname] ?? '';
  const page = Number(url.searchParams.get('continue') ?? 1);
  const item = (i: number) => ({
    metadata: { name: `s-${page}-${i}`, namespace: 'default' },
    spec: { clusterIP: i === 0 ? 'None' : `10.96.0.${page}`, ports: [{ port: i === 2 ? 'x' : 80 }] },
  });
  const isMore = kind === 'Service' && page === 1;
  send(response, 200, {
    kind: `${kind}List`,
    metadata: { resourceVersion: '1', ...(isMore ? { continue: '2' } : {}) },
    items: kind === 'Service' ? [item(0), item(1), ...(page === 2 ? [item(2)] : [])] : [],
  });
};

test('CLI-69 all pages of a list count, also objects that no proxy uses, and unusable objects are problems', async t => {
  const { services, problems, notes, whereOf } = await snapshotFrom(t, answerPages);
  assert.deepEqual([...services.keys()], ['default/s-1-0', 'default/s-1-1', 'default/s-2-0', 'default/s-2-1']);
  assert.deepEqual(
    problems.map(({ where, object, field }) => `${where} | ${object} | ${field}`),
    ['/api/v1/namespaces/default/services/s-2-2 | Service default/s-2-2 | spec.ports[0].port'],
  );
  assert.deepEqual(notes, []);
  const [first] = services.values();
  assert.equal(first && whereOf(first), '/api/v1/namespaces/default/services/s-1-0');
});

for (const code of [403, 404]) {
  test(`CLI-69 ServiceCIDRs that the server answers with ${code} are a note`, async t => {
    const { notes, services } = await snapshotFrom(t, (request, response, url) => {
      if (url.pathname.endsWith('servicecidrs')) refuse(response, code, 'no ServiceCIDRs here');
      else answerPages(request, response, url);
    });
    assert.equal(services.size, 4);
    assert.match(notes.join(), /^cannot list \/apis\S+servicecidrs of 127\.0\.0\.1:\d+: no ServiceCIDRs here$/);
  });
}

test('CLI-69 a server that fails is an error with its words', async t => {
  await assert.rejects(
    snapshotFrom(t, (_, response) => refuse(response, 400, 'the disk is full')),
    /^Error: cannot list \/\S+ of 127\.0\.0\.1:\d+: the disk is full$/,
  );
});

test('CLI-69 a server that does not answer in time is an error', async t => {
  await assert.rejects(
    snapshotFrom(t, () => {}, 200),
    /^Error: the API server 127\.0\.0\.1:\d+ did not answer all lists within 0\.2 s$/,
  );
});
