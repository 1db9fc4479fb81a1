import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeProgrammedLease } from '../../api/index.ts';
import type { ApiClient, ApiRequest } from '../../client/index.ts';
import { ApiReader } from './api-reader.ts';
import { waitOnAllNodes } from './on-all-nodes.ts';
import { readTarget } from './target.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/pointsman-nodes/leases';

function node(name: string, isReady = true) {
  return { metadata: { name }, status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] } };
}

function lease(name: string, version: string, setAside: readonly string[] = []) {
  const versions = { services: version, endpointSlices: version };
  const times = { renewedAt: Date.now(), durationSeconds: 180 };
  const aside = { setAside, setAsideCount: setAside.length, bootId: undefined };
  return encodeProgrammedLease({ node: name, ...versions, ...aside, ...times }, 'x', undefined);
}

function service(spec: object, labels = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', resourceVersion: '50', labels },
    spec,
  };
}

function slice(resourceVersion: string) {
  return { metadata: { name: `web-${resourceVersion}`, namespace: 'shop', resourceVersion }, addressType: 'IPv4' };
}

interface Server {
  readonly nodes?: readonly object[];
  readonly leases?: readonly object[];
  /** What the watch of Leases sends, one after the other, 20 ms apart. */
  readonly events?: readonly object[];
  readonly service?: object | undefined;
  readonly slices?: readonly object[];
}

/** An API server with these objects. */
function clientOf(server: Server): ApiClient {
  const list = (items: readonly object[] = []) => JSON.stringify({ metadata: { resourceVersion: '9' }, items });
  const textOf = (path: string): string => {
    if (path.startsWith('/api/v1/nodes?')) return list(server.nodes);
    if (path.startsWith(LEASES)) return list(server.leases);
    if (path.includes('/endpointslices?')) return list(server.slices);
    return JSON.stringify(server.service);
  };
  return {
    async request({ path, signal }: ApiRequest) {
      if (path.endsWith('/services/none')) return { status: 404, headers: {}, body: body([]) };
      const isWatch = path.includes('watch=true');
      const parts = isWatch ? (server.events ?? []).map(event => `${JSON.stringify(event)}\n`) : [textOf(path)];
      return { status: 200, headers: {}, body: body(parts, isWatch ? signal : undefined) };
    },
    close() {},
  };
}

/** A watch stays open after its last event. */
async function* body(parts: readonly string[], open?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  for (const part of parts) {
    if (open) await new Promise(resolve => setTimeout(resolve, 20));
    yield Buffer.from(part);
  }
  if (open && !open.aborted) await new Promise(resolve => open.addEventListener('abort', resolve));
}

async function wait(server: Server, timeoutMs = 5000) {
  const stop = new AbortController();
  try {
    return await waitOnAllNodes({
      reader: new ApiReader(clientOf(server), stop.signal),
      target: { service: 'shop/web', services: '50', endpointSlices: '60', sliceCount: 1 },
      namespace: 'pointsman-nodes',
      nodeSelector: '',
      timeUp: AbortSignal.timeout(timeoutMs),
      onProgress: () => {},
    });
  } finally {
    stop.abort();
  }
}

describe('the wait for all nodes', () => {
  test('PROGRAMMED-11 the wait ends when every ready node has reached the versions, in a list or in a watch', async () => {
    const end = await wait({
      nodes: [node('a'), node('b'), node('c', false)],
      leases: [lease('a', '60'), lease('b', '59')],
      events: [
        { type: 'MODIFIED', object: lease('a', '61') },
        { type: 'MODIFIED', object: lease('b', '60') },
      ],
    });
    assert.deepEqual(end, { nodeCount: 2, missing: [] });
  });

  test('PROGRAMMED-11 when the time is over, the nodes that lack the Service are named with the reason', async () => {
    const { nodeCount, missing } = await wait({ nodes: [node('a'), node('b')], leases: [lease('a', '60')] }, 100);
    assert.equal(nodeCount, 2);
    assert.deepEqual(
      missing.map(({ node, cause }) => [node, cause]),
      [['b', 'no-lease']],
    );
  });

  test('PROGRAMMED-11 a node that could not program the Service ends the wait at once', async () => {
    const { missing } = await wait({ nodes: [node('a'), node('b')], leases: [lease('a', '60', ['shop/web'])] });
    assert.deepEqual(missing.map(({ cause }) => cause).sort(), ['no-lease', 'set-aside']);
  });

  test('PROGRAMMED-11 a node that is gone when the time is over does not count', async () => {
    const nodes = [node('a'), node('b')];
    const waiting = wait({ nodes, leases: [lease('a', '60')] }, 200);
    setTimeout(() => nodes.pop(), 50);
    assert.deepEqual(await waiting, { nodeCount: 1, missing: [] });
  });

  test('PROGRAMMED-11 without a ready node there is nothing to wait for', async () => {
    await assert.rejects(wait({ nodes: [node('a', false)] }), /no node is ready/);
  });
});

describe('what to wait for', () => {
  const read = (server: Server, name = 'shop/web') =>
    readTarget(new ApiReader(clientOf(server), new AbortController().signal), name);

  test('PROGRAMMED-11 the target is the version of the Service, and the newest version of its EndpointSlices', async () => {
    const target = await read({ service: service({ clusterIP: '10.96.0.1' }), slices: [slice('9'), slice('70')] });
    assert.deepEqual(target, { service: 'shop/web', services: '50', endpointSlices: '70', sliceCount: 2 });
    assert.equal((await read({ service: service({ clusterIP: '10.96.0.1' }) })).endpointSlices, undefined);
  });

  test('PROGRAMMED-11 a Service that no proxy programs is an error at once', async () => {
    await assert.rejects(read({}, 'shop/none'), /there is no Service "shop\/none"/);
    await assert.rejects(read({ service: service({ clusterIP: 'None' }) }), /is headless/);
    await assert.rejects(read({ service: service({ type: 'ExternalName' }) }), /ExternalName/);
    const labels = { 'service.kubernetes.io/service-proxy-name': 'x' };
    await assert.rejects(read({ service: service({ clusterIP: '10.96.0.1' }, labels) }), /another proxy/);
  });
});
