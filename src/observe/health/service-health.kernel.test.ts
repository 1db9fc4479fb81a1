import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, describe, test } from 'node:test';
import { httpCall } from '../../../test/support/http-call.ts';
import { setLoopbackUp } from '../../../test/support/namespaces.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { connectTcp, listenTcp } from '../../kernel/sockets/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import { listenIn } from '../http/index.ts';
import { ServiceHealth, type ServiceHealthFailure, type ServiceHealthOptions, serviceHealthNote } from './index.ts';

const V4 = '127.0.0.1' as Ip;
const V4_OTHER = '127.0.0.2' as Ip;
const V6 = '::1' as Ip;

describe('service health', () => {
  let namespace: NetworkNamespace;
  let failures: ServiceHealthFailure[];
  let healthy: boolean;
  const open: ServiceHealth[] = [];

  before(() => {
    namespace = NetworkNamespace.create();
    setLoopbackUp(namespace);
  });
  after(() => namespace.close());
  afterEach(() => {
    for (const one of open.splice(0)) one.close();
  });

  function create(family: Family, addresses: ServiceHealthOptions['addresses'] = 'all'): ServiceHealth {
    failures = [];
    healthy = true;
    const created = new ServiceHealth({
      family,
      addresses,
      healthy: () => healthy,
      onError: failure => failures.push(failure),
      listen: listenIn(namespace),
    });
    open.push(created);
    return created;
  }

  async function get(ip: Ip, port: number, path = '/', method = 'GET') {
    const connection = await connectTcp(namespace, ip, port);
    return httpCall({ port, connection, path, method });
  }

  async function status(ip: Ip, port: number): Promise<number | string> {
    try {
      return (await get(ip, port)).status;
    } catch (error) {
      return error instanceof Error && 'errno' in error ? String(error.errno) : String(error);
    }
  }

  for (const [family, ip] of [
    ['IPv4', V4],
    ['IPv6', V6],
  ] as const) {
    test(`HEALTH-8 ${family}: every path and method gets the same status, headers and JSON`, async () => {
      const health = create(family);
      await health.syncServices(new Map([['ns/svc', 30_100]]));
      health.syncEndpoints(new Map([['ns/svc', 2]]));
      const body =
        '{\n\t"service": {\n\t\t"namespace": "ns",\n\t\t"name": "svc"\n\t},\n\t"localEndpoints": 2,\n\t"serviceProxyHealthy": true\n}';
      const reply = await get(ip, 30_100, '/any/path?x', 'POST');
      assert.equal(reply.status, 200);
      assert.equal(reply.body, body);
      assert.deepEqual(reply.headers, {
        'content-type': 'application/json',
        'x-content-type-options': 'nosniff',
        'x-load-balancing-endpoint-weight': '2',
        'content-length': String(body.length),
      });
    });
  }

  test('LOG-22 ports that open or close, and changed numbers of endpoints, are reported once', async () => {
    const changes: string[] = [];
    const health = new ServiceHealth({
      family: 'IPv4',
      addresses: 'all',
      healthy: () => true,
      onError: ({ error }) => assert.fail(error),
      onChange: ({ kind, service, port, localEndpoints }) =>
        changes.push(`${kind} ${service} ${port} ${localEndpoints}`),
      listen: listenIn(namespace),
    });
    open.push(health);
    for (const endpoints of [2, 2, 3]) {
      await health.syncServices(new Map([['ns/svc', 30_100]]));
      health.syncEndpoints(new Map([['ns/svc', endpoints]]));
    }
    health.close();
    health.close();
    assert.deepEqual(changes, [
      'opening ns/svc 30100 0',
      'endpoints ns/svc 30100 2',
      'endpoints ns/svc 30100 3',
      'closing ns/svc 30100 3',
    ]);
  });

  test('HEALTH-8 a Service without local endpoints and an unhealthy proxy are 503, with the true weight', async () => {
    const health = create('IPv4');
    await health.syncServices(new Map([['ns/svc', 30_100]]));
    const none = await get(V4, 30_100);
    assert.deepEqual([none.status, none.headers['x-load-balancing-endpoint-weight']], [503, '0']);
    health.syncEndpoints(new Map([['ns/svc', 3]]));
    healthy = false;
    const late = await get(V4, 30_100);
    assert.deepEqual([late.status, late.headers['x-load-balancing-endpoint-weight']], [503, '3']);
    assert.deepEqual(JSON.parse(late.body), {
      service: { namespace: 'ns', name: 'svc' },
      localEndpoints: 3,
      serviceProxyHealthy: false,
    });
  });

  test('HEALTH-8 both families can listen on the same port', async () => {
    const [v4, v6] = [create('IPv4'), create('IPv6')];
    await v4.syncServices(new Map([['ns/svc', 30_100]]));
    await v6.syncServices(new Map([['ns/svc', 30_100]]));
    v4.syncEndpoints(new Map([['ns/svc', 1]]));
    assert.deepEqual(failures, []);
    assert.deepEqual([await status(V4, 30_100), await status(V6, 30_100)], [200, 503]);
  });

  test('HEALTH-8 the IPv6 listener accepts no IPv4', async () => {
    await create('IPv6').syncServices(new Map([['ns/svc', 30_100]]));
    assert.equal(await status(V4, 30_100), 'ECONNREFUSED');
  });

  test('HEALTH-8 the ports are open at node port addresses only, and no address is no error', async () => {
    await create('IPv4', [V4_OTHER]).syncServices(new Map([['ns/svc', 30_100]]));
    assert.deepEqual([await status(V4, 30_100), await status(V4_OTHER, 30_100)], ['ECONNREFUSED', 503]);
    await create('IPv4', []).syncServices(new Map([['ns/svc', 30_101]]));
    assert.equal(await status(V4, 30_101), 'ECONNREFUSED');
    assert.deepEqual(failures, []);
  });

  test('HEALTH-9 the port and the connections of a deleted Service close at once, and other Services are not touched', async () => {
    const health = create('IPv4');
    await health.syncServices(
      new Map([
        ['ns/gone', 30_100],
        ['ns/stays', 30_101],
      ]),
    );
    health.syncEndpoints(new Map([['ns/stays', 1]]));
    const idle = await connectTcp(namespace, V4, 30_100);
    idle.on('error', () => {});
    idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const cut = once(idle, 'close');
    await health.syncServices(new Map([['ns/stays', 30_101]]));
    await cut;
    assert.deepEqual([await status(V4, 30_100), await status(V4, 30_101)], ['ECONNREFUSED', 200]);
  });

  test('HEALTH-9 a Service whose port changes starts without endpoints', async () => {
    const health = create('IPv4');
    await health.syncServices(new Map([['ns/svc', 30_100]]));
    health.syncEndpoints(new Map([['ns/svc', 1]]));
    await health.syncServices(new Map([['ns/svc', 30_101]]));
    assert.deepEqual([await status(V4, 30_100), await status(V4, 30_101)], ['ECONNREFUSED', 503]);
    health.syncEndpoints(new Map([['ns/svc', 1]]));
    assert.equal(await status(V4, 30_101), 200);
  });

  test('HEALTH-9 two Services can swap their ports', async () => {
    const health = create('IPv4');
    await health.syncServices(
      new Map([
        ['ns/a', 30_100],
        ['ns/b', 30_101],
      ]),
    );
    await health.syncServices(
      new Map([
        ['ns/a', 30_101],
        ['ns/b', 30_100],
      ]),
    );
    assert.deepEqual(failures, []);
    assert.equal(JSON.parse((await get(V4, 30_100)).body).service.name, 'b');
    assert.equal(JSON.parse((await get(V4, 30_101)).body).service.name, 'a');
  });

  test('HEALTH-9 endpoints of unknown Services are ignored, and a Service that is not in the map has none', async () => {
    const health = create('IPv4');
    await health.syncServices(new Map([['ns/svc', 30_100]]));
    health.syncEndpoints(
      new Map([
        ['ns/svc', 1],
        ['ns/unknown', 5],
      ]),
    );
    assert.equal(await status(V4, 30_100), 200);
    health.syncEndpoints(new Map());
    assert.equal(await status(V4, 30_100), 503);
  });

  test('HEALTH-9 counts that come at once reach listeners that are still being opened', async () => {
    const health = create('IPv4');
    const opened = health.syncServices(new Map([['ns/svc', 30_100]]));
    health.syncEndpoints(new Map([['ns/svc', 1]]));
    await opened;
    assert.equal(await status(V4, 30_100), 200);
  });

  test('HEALTH-9 a Service that is deleted while its listener opens leaves no listener', async () => {
    const health = create('IPv4', [V4, V4_OTHER]);
    const opened = health.syncServices(new Map([['ns/svc', 30_100]]));
    await health.syncServices(new Map());
    await opened;
    assert.deepEqual([await status(V4, 30_100), await status(V4_OTHER, 30_100)], ['ECONNREFUSED', 'ECONNREFUSED']);
    assert.deepEqual(failures, []);
  });

  test('HEALTH-9 a port that is in use is reported, its other addresses are closed, and the next sync retries', async () => {
    const holder = await listenTcp(namespace, V4_OTHER, 30_100, peer => peer.destroy());
    const health = create('IPv4', [V4, V4_OTHER]);
    const ports = new Map([['ns/svc', 30_100]]);
    await health.syncServices(ports);
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.error ?? '', /EADDRINUSE/);
    assert.equal(await status(V4, 30_100), 'ECONNREFUSED');
    await new Promise(resolve => holder.close(resolve));
    await health.syncServices(ports);
    assert.equal(failures.length, 1);
    assert.deepEqual([await status(V4, 30_100), await status(V4_OTHER, 30_100)], [503, 503]);
  });

  test('HEALTH-9 a port in use of a Service that is deleted meanwhile is not reported', async () => {
    const holder = await listenTcp(namespace, V4, 30_100, peer => peer.destroy());
    const health = create('IPv4', [V4]);
    const opened = health.syncServices(new Map([['ns/svc', 30_100]]));
    await health.syncServices(new Map());
    await opened;
    assert.deepEqual(failures, []);
    await new Promise(resolve => holder.close(resolve));
  });

  test('HEALTH-9 the note of the Event names node, Service, port and error', () => {
    assert.equal(
      serviceHealthNote('node-a', { service: 'ns/svc', port: 30_100, error: 'EADDRINUSE' }),
      'node node-a failed to start healthcheck "ns/svc" on port 30100: EADDRINUSE',
    );
  });
});
