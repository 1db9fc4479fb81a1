import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { httpCall } from '../../../test/support/http-call.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { Node } from '../../api/index.ts';
import type { Ip } from '../../net/index.ts';
import { HttpServer } from '../http/index.ts';
import { goTime } from './go-time.ts';
import { Checks, ProxyHealth, proxyHealthHandler } from './index.ts';

const START = Date.UTC(2026, 4, 4, 10, 0, 0, 120);
const NODE: Node = {
  kind: 'Node',
  metadata: { name: 'node-a', namespace: '', labels: {}, annotations: {} },
  podCIDRs: [],
  addresses: [],
};
const ZERO = '0001-01-01T00:00:00Z';

describe('the proxy health server', () => {
  let clock: ManualClock;
  let health: ProxyHealth;
  let checks: Checks;
  let server: HttpServer;
  let answered: [string, number][];

  beforeEach(async () => {
    clock = new ManualClock(START);
    health = new ProxyHealth({ timeoutMs: 60_000, clock });
    health.started(['IPv4', 'IPv6']);
    checks = new Checks();
    answered = [];
    const handle = proxyHealthHandler({ health, checks, clock, onAnswer: (...answer) => answered.push(answer) });
    server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
  });

  afterEach(() => server.close());

  const get = (path: string, method = 'GET') => httpCall({ port: server.port, path, method });
  const time = (offsetMs = 0) => goTime(START + offsetMs);
  async function body(path: string): Promise<[number, string]> {
    const reply = await get(path);
    return [reply.status, reply.body];
  }

  function bothUpdated(): void {
    health.updated('IPv4');
    health.updated('IPv6');
  }

  test("HEALTH-5 a healthy proxy on an eligible node answers 200, with upstream's headers and JSON", async () => {
    bothUpdated();
    health.setNode(NODE);
    await clock.advance(1500);
    const families = `"IPv4":{"lastUpdated":"${time()}","healthy":true},"IPv6":{"lastUpdated":"${time()}","healthy":true}`;
    const healthz = `{"lastUpdated":"${time(1500)}","currentTime":"${time(1500)}","nodeEligible":true,"healthy":true,"status":{${families}}}`;
    const reply = await get('/healthz');
    assert.equal(reply.status, 200);
    assert.equal(reply.body, healthz);
    assert.deepEqual(reply.headers, {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'content-length': String(healthz.length),
    });
    assert.deepEqual(await body('/livez'), [200, healthz.replace('"nodeEligible":true,', '')]);
    assert.deepEqual(answered, [
      ['/healthz', 200],
      ['/livez', 200],
    ]);
  });

  test('HEALTH-5 on a node that is not eligible only /healthz answers 503, and `healthy` stays true', async () => {
    bothUpdated();
    await clock.advance(1000);
    const [status, text] = await body('/healthz');
    assert.equal(status, 503);
    const { lastUpdated, nodeEligible, healthy } = JSON.parse(text);
    assert.deepEqual(
      { lastUpdated, nodeEligible, healthy },
      { lastUpdated: time(), nodeEligible: false, healthy: true },
    );
    assert.equal((await body('/livez'))[0], 200);
  });

  test('HEALTH-5 with late work both paths answer 503, with the time of the last sync of any family', async () => {
    health.setNode(NODE);
    bothUpdated();
    health.queuedUpdate('IPv4');
    await clock.advance(2000);
    health.updated('IPv6');
    await clock.advance(58_000);
    const families = `"IPv4":{"lastUpdated":"${time()}","healthy":false},"IPv6":{"lastUpdated":"${time(2000)}","healthy":true}`;
    const livez = `{"lastUpdated":"${time(2000)}","currentTime":"${time(60_000)}","healthy":false,"status":{${families}}}`;
    assert.deepEqual(await body('/livez'), [503, livez]);
    assert.deepEqual(await body('/healthz'), [503, livez.replace('"healthy"', '"nodeEligible":true,"healthy"')]);
  });

  const probe = async (path: string) => {
    const headers = { 'user-agent': 'kube-probe/1.36' };
    return (await httpCall({ port: server.port, path, headers })).status;
  };

  test('HEALTH-26 the kubelet gets from /healthz what /livez says: before the first sync, and while the node goes', async () => {
    assert.deepEqual([await probe('/healthz'), (await get('/healthz')).status], [200, 503]);
    health.failed('IPv4', 'EPERM');
    await clock.advance(600_000);
    assert.deepEqual([await probe('/healthz'), (await get('/healthz')).status], [200, 503]);
    health.setNode({ ...NODE, taints: ['ToBeDeletedByClusterAutoscaler'] });
    bothUpdated();
    assert.deepEqual([await probe('/healthz'), (await get('/healthz')).status], [200, 503]);
    assert.deepEqual(answered.slice(0, 2), [
      ['/healthz', 200],
      ['/healthz', 503],
    ]);
  });

  test('HEALTH-26 late work after the first sync is 503 for the kubelet too', async () => {
    health.setNode(NODE);
    bothUpdated();
    health.queuedUpdate('IPv4');
    await clock.advance(60_000);
    assert.deepEqual([await probe('/healthz'), await probe('/livez')], [503, 503]);
  });

  test('HEALTH-5 before the first sync /healthz answers 503 and /livez 200', async () => {
    health.setNode(NODE);
    const families = (healthy: boolean) =>
      `"IPv4":{"lastUpdated":"${ZERO}","healthy":${healthy}},"IPv6":{"lastUpdated":"${ZERO}","healthy":${healthy}}`;
    assert.deepEqual(await body('/healthz'), [
      503,
      `{"lastUpdated":"${ZERO}","currentTime":"${time()}","nodeEligible":true,"healthy":false,"status":{${families(false)}}}`,
    ]);
    assert.deepEqual(await body('/livez'), [
      200,
      `{"lastUpdated":"${time()}","currentTime":"${time()}","healthy":true,"status":{${families(true)}}}`,
    ]);
  });

  test('HEALTH-5 every method gets the same answer, and other paths get 404', async () => {
    assert.equal((await get('/healthz', 'POST')).status, 503);
    for (const path of ['/', '/nope', '/healthz/', '/livez/x']) {
      const reply = await get(path);
      assert.equal(reply.status, 404, path);
      assert.equal(reply.body, '404 page not found\n');
      assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8');
    }
  });

  test('HEALTH-6 no note makes a long line of /readyz, or controls a terminal', async () => {
    const long = 'x'.repeat(1 << 20);
    const problem = { object: `Service ${long}`, message: long };
    checks.add('manifests', () => ({ isReady: false, note: '\x1b[2J\x9b', problems: [problem, problem] }));
    const [, text = ''] = await body('/readyz');
    assert.ok(text.length < 4096);
    assert.match(text, /failed: \\x1b\[2J\\u009b; Service x+… \(\d+ characters\); Service x/);
  });

  test('HEALTH-6 /readyz shows each check with its reason on one line', async () => {
    let cache: string | undefined = 'waiting for\n  services';
    checks.add('caches', () => (cache === undefined ? undefined : { isReady: false, note: cache }));
    checks.add('throws', () => {
      if (cache !== undefined) throw new Error('broken');
      return undefined;
    });
    const missing = [
      '[-]sync-IPv4 failed: no sync has succeeded yet',
      '[-]sync-IPv6 failed: no sync has succeeded yet',
      '[-]caches failed: waiting for services',
      '[-]throws failed: broken',
      'readyz check failed\n',
    ];
    assert.deepEqual(await body('/readyz'), [503, missing.join('\n')]);
    cache = undefined;
    bothUpdated();
    assert.deepEqual(await body('/readyz'), [200, 'ok']);
    assert.deepEqual(await body('/readyz?verbose'), [
      200,
      [
        '[+]sync-IPv4 ok: last succeeded 0 s ago',
        '[+]sync-IPv6 ok: last succeeded 0 s ago',
        '[+]caches ok',
        '[+]throws ok',
        'readyz check passed\n',
      ].join('\n'),
    ]);
    assert.throws(() => checks.add('caches', () => undefined), RangeError);
  });

  test('HEALTH-6 after a failed sync the proxy is at once not ready, but still healthy', async () => {
    health.setNode(NODE);
    bothUpdated();
    await clock.advance(20_000);
    health.syncStarted('IPv4');
    health.failed('IPv4', 'EPERM');
    assert.deepEqual(await body('/readyz'), [
      503,
      '[-]sync-IPv4 failed: the last sync failed: EPERM\n[+]sync-IPv6 ok: last succeeded 20 s ago\nreadyz check failed\n',
    ]);
    assert.equal((await body('/healthz'))[0], 200);
    health.updated('IPv4');
    assert.deepEqual(await body('/readyz'), [200, 'ok']);
  });

  test('HEALTH-6 with late work the proxy is not ready, and /readyz shows since when the work waits', async () => {
    bothUpdated();
    health.queuedUpdate('IPv4');
    await clock.advance(61_500);
    assert.match(
      (await body('/readyz'))[1],
      /^\[-\]sync-IPv4 failed: work has been pending for 61 s\n\[\+\]sync-IPv6 ok/,
    );
  });

  test('HEALTH-6 a check that passes may have a note, which ?verbose shows', async () => {
    bothUpdated();
    checks.add('set aside', () => ({ note: '1 service port' }));
    assert.deepEqual(await body('/readyz'), [200, 'ok']);
    assert.match((await body('/readyz?verbose'))[1], /\n\[\+\]set aside ok: 1 service port\n/);
  });

  test('HEALTH-6 a check shows its first problems, each with its object and field, and how many more there are', async () => {
    bothUpdated();
    const problem = (i: number) => ({
      object: `Service default/s${i}`,
      field: 'spec',
      where: 'x.yaml',
      message: 'bad',
    });
    checks.add('objects', () => ({ isReady: false, problems: [1, 2, 3, 4, 5, 6, 7].map(problem) }));
    const named = [1, 2, 3, 4, 5].map(i => `Service default/s${i} spec: bad`).join('; ');
    assert.match((await body('/readyz'))[1], new RegExp(`\\n\\[-\\]objects failed: ${named}; 2 more\\n`));
  });

  test('HEALTH-12 while the proxy starts it is alive, not healthy and not ready', async () => {
    health = new ProxyHealth({ timeoutMs: 60_000, clock });
    const handle = proxyHealthHandler({ health, checks, clock });
    const early = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
    const ask = async (path: string) => {
      const { status, body: text } = await httpCall({ port: early.port, path });
      return [status, text];
    };
    try {
      await clock.advance(3_600_000);
      assert.deepEqual(await ask('/livez'), [
        200,
        `{"lastUpdated":"${time(3_600_000)}","currentTime":"${time(3_600_000)}","healthy":true}`,
      ]);
      assert.deepEqual(await ask('/healthz'), [
        503,
        `{"lastUpdated":"${ZERO}","currentTime":"${time(3_600_000)}","nodeEligible":false,"healthy":false}`,
      ]);
      assert.deepEqual(await ask('/readyz'), [503, '[-]start failed: the proxy is starting\nreadyz check failed\n']);
    } finally {
      early.close();
    }
  });

  test('HEALTH-7 times are RFC 3339 in the time zone of the process, without trailing zeros', t => {
    const offset = (minutes: number) => t.mock.method(Date.prototype, 'getTimezoneOffset', () => -minutes);
    const at = (ms: number) => goTime(Date.UTC(2026, 4, 4, 10, 0, 0, ms));
    offset(0);
    assert.deepEqual(
      [at(0), at(5), at(120), at(999)],
      ['2026-05-04T10:00:00Z', '2026-05-04T10:00:00.005Z', '2026-05-04T10:00:00.12Z', '2026-05-04T10:00:00.999Z'],
    );
    offset(330);
    assert.equal(at(500), '2026-05-04T15:30:00.5+05:30');
    offset(-210);
    assert.equal(at(0), '2026-05-04T06:30:00-03:30');
  });

  test('HEALTH-5 paths may have escapes, and a path that is not clean is redirected to the clean one', async () => {
    assert.equal((await get('/%6civez')).status, 200);
    for (const path of ['//livez', '/x/../livez']) {
      const { status, headers } = await get(path);
      assert.deepEqual([status, headers.location], [307, '/livez'], path);
    }
    assert.deepEqual(answered, [['/livez', 200]]);
  });
});
