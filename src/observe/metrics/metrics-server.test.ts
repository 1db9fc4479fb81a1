import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Session } from 'node:inspector';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type HttpCall, httpCall } from '../../../test/support/http-call.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { parsePrometheusText } from '../../../test/support/prometheus-text.ts';
import type { Ip } from '../../net/index.ts';
import { HttpServer } from '../http/index.ts';
import { type MetricsServerOptions, metricsHandler } from './index.ts';
import { PROCESS_START_MS } from './process-metrics.ts';

const TEXT = '# HELP a b\n# TYPE a counter\na 1\n';
const CONFIG = { kind: 'KubeProxyConfiguration', apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', mode: 'nftables' };
const PLAIN = 'text/plain; charset=utf-8';
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
const UPTIME_MS = 3_723_000;

describe('the metrics server', () => {
  let server: HttpServer;
  let verbosity: number | undefined;

  const options: MetricsServerOptions = {
    metrics: async () => TEXT,
    mode: () => 'nftables',
    configz: () => CONFIG,
    flagz: () => new Map(Object.entries({ v: '0', 'cluster-cidr': '', 'bind-address': '0.0.0.0' })),
    statusz: { binaryVersion: '1.36.4', emulationVersion: '1.36' },
    profiling: true,
    setVerbosity: level => {
      verbosity = level;
    },
    clock: new ManualClock(PROCESS_START_MS + UPTIME_MS),
  };

  async function serve(changed: Partial<MetricsServerOptions> = {}): Promise<void> {
    server?.close();
    const handle = metricsHandler({ ...options, ...changed });
    server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
  }
  beforeEach(() => {
    verbosity = undefined;
    return serve();
  });
  afterEach(() => server.close());

  const get = (path: string, call: Partial<HttpCall> = {}) => httpCall({ port: server.port, path, ...call });
  async function brief(path: string, call: Partial<HttpCall> = {}): Promise<[number, string | undefined, string]> {
    const { status, headers, body } = await get(path, call);
    return [status, headers['content-type'], body];
  }

  test('METRICS-5 /metrics has a content type, the start time of the process and the whole text', async () => {
    const reply = await get('/metrics');
    assert.equal(reply.status, 200);
    assert.equal(reply.body, TEXT);
    assert.deepEqual(reply.headers, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
      'process-start-time-unix': String(Math.floor(PROCESS_START_MS / 1000)),
      'content-length': String(TEXT.length),
    });
  });

  test('METRICS-5 /metrics is compressed for callers that accept gzip', async () => {
    const zipped = await get('/metrics', { headers: { 'Accept-Encoding': 'deflate, gzip;q=1.0' } });
    assert.equal(zipped.headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(zipped.bytes).toString(), TEXT);
    for (const refused of ['identity', 'gzip;q=0', 'xgzip']) {
      assert.equal((await get('/metrics', { headers: { 'Accept-Encoding': refused } })).body, TEXT);
    }
  });

  for (const [Accept, escaping] of [
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'allow-utf-8',
    ],
    ['text/plain;version=0.0.4,text/html;escaping=dots', 'underscores'],
    ['text/html;escaping=dots,text/plain;escaping=values', 'values'],
    ['application/json;escaping=dots', 'dots'],
    ['text/plain;escaping=nope', 'underscores'],
  ] as const) {
    test(`METRICS-5 the content type names the preferred escaping, ${escaping}: ${Accept}`, async () => {
      const [, type] = await brief('/metrics', { headers: { Accept } });
      assert.equal(type, `text/plain; version=0.0.4; charset=utf-8; escaping=${escaping}`);
    });
  }

  test('METRICS-34 name[] selects metrics by their whole name', async () => {
    const family = (name: string) => `# HELP ${name} Text.\n# TYPE ${name} counter\n${name}{a="# HELP a_total "} 1\n`;
    await serve({ metrics: async () => ['a_total', 'a_total_b', 'c'].map(family).join('') });
    const body = async (query: string) => (await get(`/metrics?${query}`)).body;
    assert.equal(await body('name[]=a_total'), family('a_total'));
    assert.equal(await body('name%5B%5D=c&name[]=a_total&name[]=&name[]=a'), family('a_total') + family('c'));
    assert.equal(await body('name[]=nope'), '');
    assert.equal(await body('name=c'), await body(''));
    const { headers } = await get('/metrics?name[]=c', { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(headers['content-encoding'], undefined, 'a small answer is not compressed');
    assert.equal((await get('/metrics/slis?name[]=nope')).body, '');
  });

  test('METRICS-5 metrics that cannot be read are a 500', async () => {
    await serve({
      metrics: async () => {
        throw new Error('no luck');
      },
    });
    assert.deepEqual(await brief('/metrics'), [500, PLAIN, 'no luck\n']);
  });

  test('METRICS-6 /healthz shows that this server answers', async () => {
    const reply = await get('/healthz');
    assert.equal(reply.body, 'ok');
    assert.deepEqual(reply.headers, {
      'content-type': PLAIN,
      'x-content-type-options': 'nosniff',
      'content-length': '2',
    });
    const ping = await get('/healthz/ping');
    assert.deepEqual([ping.body, ping.headers], ['ok', { 'content-type': PLAIN, 'content-length': '2' }]);
    assert.deepEqual(await brief('/healthz?exclude=ping'), [200, PLAIN, 'ok']);
    assert.deepEqual(await brief('/healthz?verbose'), [200, PLAIN, '[+]ping ok\nhealthz check passed\n']);
    assert.deepEqual(await brief('/healthz?verbose=1&exclude=ping&exclude=b,c&exclude=a'), [
      200,
      PLAIN,
      '[+]ping excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","b,c"\nhealthz check passed\n',
    ]);
  });

  test('METRICS-6 /metrics/slis has the results of the checks, until it is reset', async () => {
    const names = async () => [...parsePrometheusText((await get('/metrics/slis')).body).keys()];
    assert.deepEqual(await names(), ['process_start_time_seconds']);
    await get('/healthz');
    await get('/healthz');
    const families = parsePrometheusText((await get('/metrics/slis')).body);
    assert.deepEqual(families.get('kubernetes_healthcheck')?.samples, [
      { name: 'kubernetes_healthcheck', labels: { name: 'ping', type: 'healthz' }, value: 1 },
    ]);
    assert.deepEqual(families.get('kubernetes_healthchecks_total')?.samples, [
      { name: 'kubernetes_healthchecks_total', labels: { name: 'ping', status: 'success', type: 'healthz' }, value: 2 },
    ]);
    assert.deepEqual(await brief('/metrics/slis', { method: 'DELETE' }), [200, PLAIN, 'metrics reset\n']);
    assert.deepEqual(await names(), ['process_start_time_seconds']);
  });

  test('METRICS-7 /proxyMode shows the mode and /configz the configuration', async () => {
    assert.deepEqual(await brief('/proxyMode'), [200, PLAIN, 'nftables']);
    const body = `{"kubeproxy.config.k8s.io":${JSON.stringify(CONFIG)}}`;
    assert.deepEqual(await brief('/configz'), [200, 'application/json', body]);
  });

  test('METRICS-7 every method gets the same answer, and other paths get 404', async () => {
    assert.equal((await get('/proxyMode', { method: 'POST', body: 'x' })).status, 200);
    for (const path of ['/', '/metrics/', '/healthz/', '/healthz/x', '/proxyMode/', '/configz/', '/flagz/', '/debug']) {
      assert.deepEqual(await brief(path), [404, PLAIN, '404 page not found\n'], path);
    }
  });

  test('METRICS-8 /flagz is text by default', async () => {
    const text = `\nkube-proxy flagz\n${WARNING}\nbind-address=0.0.0.0\ncluster-cidr=\nv=0\n`;
    assert.deepEqual(await brief('/flagz'), [200, PLAIN, text]);
    for (const Accept of ['*/*', 'text/plain', 'text/html, */*;q=0.8']) {
      assert.deepEqual(await brief('/flagz', { headers: { Accept } }), [200, PLAIN, text]);
    }
  });

  test('METRICS-8 /flagz can be an object in JSON or YAML, with a warning for the older version', async () => {
    const object = (version: string) => ({
      kind: 'Flagz',
      apiVersion: `config.k8s.io/${version}`,
      metadata: { name: 'kube-proxy' },
      flags: { 'bind-address': '0.0.0.0', 'cluster-cidr': '', v: '0' },
    });
    const ask = (type: string, version: string) =>
      get('/flagz', { headers: { Accept: `${type};v=${version};g=config.k8s.io;as=Flagz` } });
    const json = await ask('application/json', 'v1beta1');
    assert.equal(json.body, `${JSON.stringify(object('v1beta1'))}\n`);
    assert.equal(json.headers['content-type'], 'application/json;g=config.k8s.io;v=v1beta1;as=Flagz');
    assert.equal(json.headers.warning, undefined);
    const yaml = await ask('application/yaml', 'v1alpha1');
    assert.equal(
      yaml.body,
      'apiVersion: config.k8s.io/v1alpha1\nflags:\n  bind-address: 0.0.0.0\n  cluster-cidr: ""\n  v: "0"\n' +
        'kind: Flagz\nmetadata:\n  name: kube-proxy\n',
    );
    assert.equal(yaml.headers['content-type'], 'application/yaml;g=config.k8s.io;v=v1alpha1;as=Flagz');
    assert.equal(
      yaml.headers.warning,
      '299 - "This version of the flagz endpoint is deprecated. Please use a newer version."',
    );
  });

  const FLAGZ = 'v=v1beta1;g=config.k8s.io;as=Flagz';

  for (const [Accept, form] of [
    [`text/plain;q=0.1,application/json;${FLAGZ}`, 'json'],
    [`application/json;${FLAGZ};q=0.5,application/yaml;${FLAGZ}`, 'yaml'],
    [`*/*,application/yaml;${FLAGZ}`, 'yaml'],
    [`*/*;${FLAGZ}`, 'json'],
    [`application/*;${FLAGZ}`, 'json'],
    [`application/json;foo=bar;${FLAGZ}`, 'json'],
    [`application/json;q=0;${FLAGZ}`, 'json'],
    [`text/plain,application/json;${FLAGZ}`, 'plain'],
    ['application/json,text/plain', 'plain'],
    ['text/*', 'plain'],
    ['*', 'plain'],
    ['', 'plain'],
  ] as const) {
    test(`METRICS-8 the preferred form is sent: ${Accept} gets ${form}`, async () => {
      const { status, headers } = await get('/flagz', { headers: { Accept } });
      assert.equal(status, 200);
      assert.equal(/^\w+\/(\w+);/.exec(headers['content-type'] ?? '')?.[1], form);
    });
  }

  test('METRICS-8 an object is indented if the caller wants that or is a program that people use', async () => {
    const isPretty = async (path: string, agent: string, parameter = '') => {
      const headers = { 'User-Agent': agent, Accept: `application/json;${parameter}${FLAGZ}` };
      return (await get(path, { headers })).body.startsWith('{\n  "kind": "Flagz",\n');
    };
    for (const agent of ['curl/8.0', 'Wget/1', 'Mozilla/5.0 (X11)']) assert.ok(await isPretty('/flagz', agent), agent);
    assert.ok(await isPretty('/flagz?pretty=true', 'prober'));
    assert.ok(await isPretty('/flagz', 'prober', 'pretty=1;'));
    assert.ok(!(await isPretty('/flagz', 'prober')));
    assert.ok(!(await isPretty('/flagz?pretty=0', 'curl/8.0')));
    assert.ok(await isPretty('/flagz?pretty', 'curl/8.0'));
  });

  test('METRICS-8 an unsupported form is not acceptable, and the Status about it has a supported form', async () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'only the following media types are accepted: application/json, application/yaml, text/plain',
      reason: 'NotAcceptable',
      code: 406,
    };
    const pretty = JSON.stringify(status, undefined, 2);
    const compact = `${JSON.stringify(status)}\n`;
    const yaml =
      "apiVersion: v1\ncode: 406\nkind: Status\nmessage: 'only the following media types are accepted: application/json, application/yaml,\n" +
      "  text/plain'\nmetadata: {}\nreason: NotAcceptable\nstatus: Failure\n";
    for (const [Accept, type, body] of [
      ['application/json', 'json', compact],
      ['application/*', 'json', compact],
      ['text/html,application/json;stream=watch', 'json', compact],
      ['application/json;pretty=1', 'json', pretty],
      ['application/yaml;q=0.9, text/html', 'yaml', yaml],
      ['text/html', 'json', pretty],
      ['application/json;v=v1;g=config.k8s.io;as=Flagz', 'json', pretty],
      ['application/json;v=v1beta1;g=config.k8s.io;as=Statusz', 'json', pretty],
      [`application/json;stream=watch;${FLAGZ}`, 'json', pretty],
      [`application/json;sv=v1;${FLAGZ}`, 'json', pretty],
      [`application/cbor;${FLAGZ}`, 'json', pretty],
      [`text/plain;${FLAGZ}`, 'json', pretty],
      ['APPLICATION/JSON', 'json', pretty],
    ] as const) {
      assert.deepEqual(await brief('/flagz', { headers: { Accept } }), [406, `application/${type}`, body], Accept);
    }
  });

  test('METRICS-8 /statusz is text or an object', async () => {
    const [status, type, body] = await brief('/statusz');
    assert.deepEqual([status, type], [200, PLAIN]);
    const lines = body.split('\n');
    assert.deepEqual(lines.slice(0, 4), ['', 'kube-proxy statusz', WARNING, '']);
    assert.match(lines[4] ?? '', /^Started: [A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] \d\d:\d\d:\d\d UTC \d{4}$/);
    const paths = ['/configz', '/flagz', '/healthz', '/metrics', '/proxyMode'];
    assert.deepEqual(lines.slice(5), [
      'Up: 1 hr 02 min 03 sec',
      `Node version: ${process.version}`,
      'Binary version: 1.36.4',
      'Emulation version: 1.36',
      `Paths: ${paths.join(' ')}`,
      '',
    ]);
    const Accept = 'application/json;v=v1beta1;g=config.k8s.io;as=Statusz';
    assert.deepEqual(JSON.parse((await get('/statusz', { headers: { Accept } })).body), {
      kind: 'Statusz',
      apiVersion: 'config.k8s.io/v1beta1',
      metadata: { name: 'kube-proxy' },
      startTime: `${new Date(PROCESS_START_MS).toISOString().slice(0, 19)}Z`,
      uptimeSeconds: 3723,
      goVersion: `Node ${process.version}`,
      binaryVersion: '1.36.4',
      emulationVersion: '1.36',
      paths,
    });
  });

  test('METRICS-8 a feature gate that is off removes its page', async () => {
    await serve({ flagz: undefined, statusz: undefined });
    assert.equal((await get('/flagz')).status, 404);
    assert.equal((await get('/statusz')).status, 404);
  });

  test('METRICS-9 without profiling there are no debug pages', async () => {
    await serve({ profiling: false });
    for (const path of ['/debug/pprof', '/debug/pprof/', '/debug/pprof/heap', '/debug/flags', '/debug/flags/v']) {
      assert.deepEqual(await brief(path), [404, PLAIN, '404 page not found\n'], path);
    }
  });

  test('METRICS-9 /debug/flags/v sets the verbosity', async () => {
    const put = (body: string) => brief('/debug/flags/v', { method: 'PUT', body });
    const type = 'text/plain';
    assert.deepEqual(await put('4'), [200, type, 'successfully set klog.logging.verbosity to 4\n']);
    assert.equal(verbosity, 4);
    for (const [value, why] of [
      ['x', 'strconv.ParseUint: parsing "x": invalid syntax'],
      ['-1', 'strconv.ParseUint: parsing "-1": invalid syntax'],
      ['+1', 'strconv.ParseUint: parsing "+1": invalid syntax'],
      ['', 'strconv.ParseUint: parsing "": invalid syntax'],
      ['99999999999', 'strconv.ParseUint: parsing "99999999999": value out of range'],
      [
        '2147483648',
        'failed set klog.logging.verbosity 2147483648: strconv.ParseInt: parsing "2147483648": value out of range',
      ],
    ] as const) {
      assert.deepEqual(await put(value), [400, type, `${why}\n`], value);
    }
    assert.equal((await put('9'.repeat(200)))[0], 400);
    assert.deepEqual(await brief('/debug/flags/v'), [406, type, 'unsupported http method\n']);
    assert.equal(verbosity, 4);
    for (const path of ['/debug/flags', '/debug/flags/', '/debug/flags/vmodule']) {
      const [status, contentType, body] = await brief(path);
      assert.deepEqual([status, contentType], [200, 'text/html; charset=utf-8']);
      assert.ok(body.includes('<title>/debug/flags/</title>') && body.includes('<tr>v<br>'), path);
    }
  });

  test('METRICS-9 /debug/pprof redirects to an index of the profiles', async () => {
    const moved = await get('/debug/pprof');
    assert.deepEqual([moved.status, moved.headers.location], [302, '/debug/pprof/']);
    assert.equal(moved.body, '<a href="/debug/pprof/">Found</a>.\n\n');
    const index = await get('/debug/pprof/');
    assert.match(index.body, /href="profile.*\n.*href="heap\?seconds=30"/);
    const unknown = await get('/debug/pprof/symbol');
    assert.deepEqual([unknown.status, unknown.headers['x-go-pprof'], unknown.body], [404, '1', 'Unknown profile\n']);
  });

  test('METRICS-9 a profile leaves no session with the profiler', async t => {
    const ended = t.mock.method(Session.prototype, 'disconnect').mock;
    await get('/debug/pprof/profile?seconds=0.001');
    assert.equal(ended.callCount(), 1);
  });

  test('METRICS-9 /debug/pprof/profile is a CPU profile', async () => {
    const { status, body } = await get('/debug/pprof/profile?seconds=0.05');
    assert.equal(status, 200);
    const profile = JSON.parse(body);
    assert.ok(profile.nodes.length > 0 && profile.endTime > profile.startTime && Array.isArray(profile.samples));
    for (const seconds of ['0', 'x', '301']) {
      assert.equal((await get(`/debug/pprof/profile?seconds=${seconds}`)).status, 400, seconds);
    }
    assert.equal((await get('/debug/pprof/profile?seconds=0.001')).status, 200);
  });

  test('METRICS-9 a caller that disconnects ends the profile', async () => {
    await assert.rejects(
      httpCall({
        port: server.port,
        path: '/debug/pprof/profile?seconds=100',
        headers: {},
        signal: AbortSignal.timeout(20),
      }),
    );
    let status = 503;
    for (let turn = 0; turn < 50 && status === 503; turn++) {
      status = (await get('/debug/pprof/profile?seconds=0.001')).status;
    }
    assert.equal(status, 200);
  });

  test('METRICS-9 /debug/pprof/heap is a sampling heap profile, which has none of the strings in memory', async () => {
    const secret = randomBytes(20).toString('hex');
    const kept: string[][] = [];
    const copy = () => Buffer.from(secret).toString('latin1');
    const timer = setInterval(() => kept.push(Array.from({ length: 5000 }, copy)), 5);
    const { status, headers, body } = await get('/debug/pprof/heap?seconds=0.2');
    clearInterval(timer);
    assert.ok(kept.length > 0 && !body.includes(secret), 'the profile has a string of the heap');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['content-disposition'], 'attachment; filename="heap.heapprofile"');
    const { head, samples } = JSON.parse(body);
    assert.ok(head.children.length > 0 && samples.length > 0);
    for (const seconds of ['0', 'x', '301']) {
      const refused = await get(`/debug/pprof/heap?seconds=${seconds}`);
      assert.deepEqual([refused.status, refused.body], [400, 'seconds must be more than 0 and at most 300\n'], seconds);
    }
  });

  test('METRICS-9 one profile runs at a time, whatever its kind; other callers get 503', async () => {
    const paths = ['heap', 'heap', 'heap', 'profile', 'profile', 'profile'];
    const replies = await Promise.all(paths.map(path => get(`/debug/pprof/${path}?seconds=0.1`)));
    const busy = replies.filter(({ status }) => status === 503);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 503, 503, 503, 503, 503]);
    assert.equal(busy[0]?.body, 'another profile is being taken; only one runs at a time\n');
    assert.equal((await get('/debug/pprof/heap?seconds=0.001')).status, 200);
  });
});
