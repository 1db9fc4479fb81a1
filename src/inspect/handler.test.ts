import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { httpCall } from '../../test/support/http-call.ts';
import type { Ip } from '../net/index.ts';
import { type HttpHandler, HttpServer } from '../observe/http/index.ts';
import {
  explainRoute,
  inspectionHandler,
  linesAnswer,
  localOnly,
  objectAnswer,
  QueryError,
  type Route,
} from './index.ts';

const STATUS: Route = {
  path: '/v1/status',
  about: 'a status',
  answer: () => objectAnswer('pointsman.status/v1', { mode: 'nftables' }),
};

describe('the inspection API', () => {
  const open: { close(): void }[] = [];
  const serve = async (handle: HttpHandler) => {
    const server = await HttpServer.open({ ip: '127.0.0.1' as Ip, port: 0, handle });
    open.push(server);
    return server.port;
  };
  const serveRoutes = (...routes: Route[]) => serve(inspectionHandler({ routes, networkNamespace: 'net:[1]' }));
  const ask = async (port: number, path: string, headers: Readonly<Record<string, string>> = {}) => {
    const { status, body } = await httpCall({ port, path, headers });
    return { status, ...JSON.parse(body) };
  };

  afterEach(() => {
    for (const server of open.splice(0)) server.close();
  });

  test('INSPECT-4 only GET is allowed', async () => {
    const port = await serveRoutes(STATUS);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers, body } = await httpCall({ port, path: '/v1/status', method });
      assert.deepEqual([status, headers.allow], [405, 'GET']);
      assert.match(body, new RegExp(`the method \\\\"${method}\\\\" is not allowed: use GET`));
    }
    assert.equal((await httpCall({ port, path: '/v1/status', method: 'HEAD' })).status, 405);
  });

  test('INSPECT-4 INSPECT-9 answers have a schema and the network namespace, and /v1 lists the paths', async () => {
    const port = await serveRoutes(
      STATUS,
      explainRoute(async () => ({ schema: 'x' })),
    );
    const reply = await httpCall({ port, path: '/v1/status' });
    assert.equal(reply.body, '{"schema":"pointsman.status/v1","mode":"nftables"}\n');
    assert.equal(reply.headers['pointsman-network-namespace'], 'net:[1]');
    assert.equal(reply.headers['cache-control'], 'no-store');
    const { schema, routes } = await ask(port, '/v1');
    assert.equal(schema, 'pointsman.routes/v1');
    assert.deepEqual(
      routes.map(({ path, parameters }: { path: string; parameters: { name: string }[] }) => [
        path,
        ...parameters.map(({ name }) => name),
      ]),
      [['/v1/status'], ['/v1/explain', 'from', 'to', 'probe']],
    );
  });

  test('INSPECT-4 unknown paths, parameters and values are errors that name them', async () => {
    const port = await serveRoutes(
      STATUS,
      explainRoute(async () => ({ schema: 'x' })),
    );
    const cases: readonly (readonly [path: string, status: number, error: string])[] = [
      ['/v1/stats', 404, 'there is no path "/v1/stats": /v1 lists all paths'],
      ['/v1/status/', 404, 'there is no path "/v1/status/": /v1 lists all paths'],
      ['/v1/status?x=1', 400, 'the parameter "x" is not known: /v1/status takes no parameters'],
      ['/v1/explain?to=a&form=b', 400, 'the parameter "form" is not known: /v1/explain knows from, to, probe'],
      ['/v1/explain?to=a&to=b', 400, 'the parameter "to" is there 2 times'],
      ['/v1/explain?to=a&probe=yes', 400, 'the parameter "probe" has the unknown value "yes": use true or false'],
      ['/v1/explain', 400, 'the parameter "to" is missing: SERVICE[:PORT] or IP:PORT[/udp]'],
      [
        '/v1/explain?__proto__=1&to=a',
        400,
        'the parameter "__proto__" is not known: /v1/explain knows from, to, probe',
      ],
    ];
    for (const [path, status, error] of cases) {
      assert.deepEqual(await ask(port, path), { status, schema: 'pointsman.error/v1', error });
    }
  });

  test('INSPECT-16 /v1/explain passes the question on, and reports a question that has no answer', async () => {
    const seen: object[] = [];
    const port = await serveRoutes(
      explainRoute(async request => {
        seen.push(request);
        if (request.to === 'nothing') throw new QueryError('there is no Service default/nothing', 404);
        return { schema: 'pointsman.explanation/v1', verdict: 'works' };
      }),
    );
    assert.deepEqual(await ask(port, '/v1/explain?to=default%2Fweb:80&from=node&probe=true'), {
      status: 200,
      schema: 'pointsman.explanation/v1',
      verdict: 'works',
    });
    assert.equal((await ask(port, '/v1/explain?to=nothing')).error, 'there is no Service default/nothing');
    assert.deepEqual(seen, [
      { from: 'node', to: 'default/web:80', probe: true },
      { from: undefined, to: 'nothing', probe: false },
    ]);
  });

  test('INSPECT-4 a route that fails is a 500 with the reason', async () => {
    const fail: Route = { ...STATUS, answer: () => Promise.reject(new Error('no luck')) };
    const { status, error } = await ask(await serveRoutes(fail), '/v1/status');
    assert.deepEqual([status, error], [500, 'no luck']);
  });

  test('INSPECT-5 a list is one JSON object a line, and its first line has the schema', async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({ name: `row ${i}` }));
    const port = await serveRoutes({
      ...STATUS,
      answer: () => linesAnswer('pointsman.rows/v1', rows, { count: 5000 }),
    });
    const { headers, body } = await httpCall({ port, path: '/v1/status' });
    assert.equal(headers['content-type'], 'application/x-ndjson');
    const lines = body
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    assert.deepEqual(lines, [{ schema: 'pointsman.rows/v1', count: 5000 }, ...rows]);
  });

  test('INSPECT-6 requests that read the kernel run one at a time, and too many are refused with the time to wait', async () => {
    let running = 0;
    let most = 0;
    const port = await serveRoutes({
      ...STATUS,
      readsKernel: true,
      async answer() {
        most = Math.max(most, ++running);
        await new Promise(resolve => setTimeout(resolve, 5));
        running--;
        return objectAnswer('x', {});
      },
    });
    const replies = await Promise.all(Array.from({ length: 60 }, () => httpCall({ port, path: '/v1/status' })));
    const statuses = new Set(replies.map(({ status }) => status));
    assert.deepEqual([most, [...statuses].sort()], [1, [200, 429]]);
    const refused = replies.find(({ status }) => status === 429);
    assert.equal(refused?.headers['retry-after'], '1');
    assert.ok(replies.filter(({ status }) => status === 200).length >= 10);
  });

  test('INSPECT-3 only requests to a loopback name, and not from pages of other sites, are answered', async () => {
    const port = await serve(localOnly(inspectionHandler({ routes: [STATUS] })));
    const statusOf = async (headers: Readonly<Record<string, string>>) =>
      (await ask(port, '/v1/status', headers)).status;
    const own = `localhost:${port}`;
    for (const host of [own, 'localhost', '127.0.0.1:1', '127.8.8.8', '[::1]:8080', 'LOCALHOST:9']) {
      assert.equal(await statusOf({ host }), 200, host);
    }
    for (const host of ['evil.example', 'localhost.evil.example', '10.0.0.1:80', '[::1', '127.0.0.1.evil.example']) {
      assert.equal(await statusOf({ host }), 403, host);
    }
    assert.equal(await statusOf({ host: own, origin: `http://${own}` }), 200);
    for (const origin of ['http://evil.example', 'null', 'http://localhost:1', `https://${own}`]) {
      assert.equal(await statusOf({ host: own, origin }), 403, origin);
    }
    assert.equal(await statusOf({ host: own, 'sec-fetch-site': 'none' }), 200);
    assert.equal(await statusOf({ host: own, 'sec-fetch-site': 'cross-site' }), 403);
    assert.equal(await statusOf({ host: own, 'sec-fetch-site': 'same-site' }), 403);
  });
});
