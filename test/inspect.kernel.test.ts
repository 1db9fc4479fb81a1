import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { askProxy, askProxyText, readProxyLines } from '../src/inspect/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import type { Ip } from '../src/net/index.ts';
import { HttpClient } from './control-plane/http-client.ts';
import { Program } from './control-plane/program.ts';
import { buildKubeProxy, KUBE_PROXY, runKubeProxy, SYNCED } from './support/kube-proxy.ts';
import { createNodeNamespace, setLoopbackUp } from './support/namespaces.ts';
import { nft } from './support/nftables-mode.ts';
import { waitFor } from './support/wait-for.ts';

const FLAGS = ['--manifests', 'examples', '--hostname-override', 'node-a', '--proxy-mode', 'nftables'];

describe('the inspection API of a running proxy', () => {
  let namespace: NetworkNamespace;
  let folder: string;
  let socket: string;
  const others: NetworkNamespace[] = [];
  const programs: Program[] = [];

  before(() => {
    buildKubeProxy();
  });

  beforeEach(() => {
    namespace = createNodeNamespace();
    folder = mkdtempSync(join(tmpdir(), 'inspect-'));
    socket = join(folder, 'run', 'proxy.sock');
  });

  afterEach(async () => {
    await Promise.all(programs.splice(0).map(program => program.stop('SIGKILL')));
    for (const one of [namespace, ...others.splice(0)]) one.close();
    rmSync(folder, { recursive: true });
  });

  function start(flags: readonly string[], { inside = namespace, before = [] as readonly string[] } = {}): Program {
    const program = new Program('the proxy', [...before, KUBE_PROXY, ...FLAGS, ...flags], { namespace: inside });
    programs.push(program);
    return program;
  }

  async function started(...flags: string[]): Promise<Program> {
    const program = start(['--inspect-socket', socket, ...flags]);
    await program.until(SYNCED);
    return program;
  }

  function run(...args: string[]) {
    return runKubeProxy(namespace, args);
  }

  test('INSPECT-1 INSPECT-10 the proxy opens the socket for root alone, and deletes it at its end', async () => {
    const program = await started();
    assert.equal(statSync(socket).mode & 0o777, 0o600);
    assert.equal(statSync(join(folder, 'run')).mode & 0o777, 0o700);
    const status = (await askProxy(socket, '/v1/status')) as Record<string, unknown>;
    assert.deepEqual(
      [status.schema, status.node, status.mode, status.source, status.alive, status.ready, status.pid],
      ['pointsman.status/v1', 'node-a', 'nftables', 'manifests', true, true, program.pid],
    );
    assert.equal((await program.stop()).status, 0);
    assert.deepEqual(readdirSync(join(folder, 'run')), []);
  });

  test('INSPECT-1 with an empty path there is no socket, and neither --init-only nor a cleanup opens one', async () => {
    const program = start(['--inspect-socket', socket, '--inspect-socket=']);
    await program.until(SYNCED);
    await program.stop();
    assert.equal(run(...FLAGS, '--init-only', '--inspect-socket', socket).status, 0);
    assert.equal(run('--cleanup', '--inspect-socket', socket).status, 0);
    assert.ok(!existsSync(join(folder, 'run')));
  });

  test('INSPECT-1 a proxy that waits until it is the only one has no socket yet', async () => {
    const first = await started();
    socket = join(folder, 'second', 'proxy.sock');
    const second = start(['--inspect-socket', socket]);
    await second.until('waiting until it ends');
    assert.ok(!existsSync(socket));
    await first.stop();
    await second.until(SYNCED);
    await askProxy(socket, '/v1/status');
  });

  test('INSPECT-1 the flags also count beside a configuration file', async () => {
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n',
    );
    await started('--config', config, '--inspect-bind-address', '127.0.0.1:10999');
    const answer = (await askProxy(socket, '/v1/configuration')) as Record<string, unknown>;
    assert.equal(answer.file, config);
    assert.equal((answer.flags as Record<string, string>)['inspect-bind-address'], '127.0.0.1:10999');
  });

  test('INSPECT-2 a proxy of another network namespace that shares the files works without the socket', async () => {
    await started();
    const inside = NetworkNamespace.create();
    others.push(inside);
    setLoopbackUp(inside);
    const second = start(['--inspect-socket', socket], { inside });
    await second.until(SYNCED);
    const lines = second.lines.filter(line => line.includes('inspection API'));
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(
      lines[0] ?? '',
      /^I.* "Another process listens at the socket of the inspection API; the proxy retries"/,
    );
  });

  test('INSPECT-2 a proxy that is killed leaves its socket, and the next one replaces it', async () => {
    await (await started()).stop('SIGKILL');
    assert.ok(existsSync(socket));
    const { pid } = await started();
    assert.equal(((await askProxy(socket, '/v1/status')) as Record<string, unknown>).pid, pid);
  });

  test('INSPECT-2 on a read-only file system the proxy works, and one warning names the cure', async () => {
    const mount = `mount -t tmpfs -o ro tmpfs ${folder} && exec "$@"`;
    const program = start(['--inspect-socket', socket], { before: ['unshare', '-m', 'sh', '-c', mount, 'sh'] });
    await program.until(SYNCED);
    const lines = program.lines.filter(line => line.includes('inspection API'));
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0] ?? '', /^W.* err="EROFS: /);
    assert.match(
      lines[0] ?? '',
      /advice="mount an emptyDir at the folder, name another path with --inspect-socket, or/,
    );
  });

  test('INSPECT-5 a reader that follows gets new entries, and does not hold up the end of the proxy', async () => {
    const program = await started();
    const rows = readProxyLines(socket, '/v1/history?follow=true');
    const isRepair = (row: unknown) => JSON.stringify(row).includes('"kind":"repair"');
    assert.deepEqual(((await rows.next()).value as Record<string, unknown>).schema, 'pointsman.history/v1');
    nft(namespace, 'delete', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 10.96.0.10 }');
    let { value } = await rows.next();
    while (!isRepair(value)) ({ value } = await rows.next());
    const stopped = program.stop('SIGTERM');
    await assert.rejects(async () => {
      for await (const row of rows) assert.ok(row);
    }, /^ProxyClientError: the answer broke off: did the proxy end\? Ask again$/);
    assert.equal((await stopped).status, 0);
    assert.ok(!program.lines.some(line => line.includes('was not closed cleanly')));
  });
});

describe('the answers of one running proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
  const socket = join(folder, 'proxy.sock');
  let namespace: NetworkNamespace;
  let program: Program;

  before(async () => {
    buildKubeProxy();
    namespace = createNodeNamespace();
    const flags = ['--inspect-bind-address', '127.0.0.1:10999', '--master', 'https://someone:hush-hush@192.0.2.1'];
    program = new Program('the proxy', [KUBE_PROXY, ...FLAGS, '--inspect-socket', socket, ...flags], { namespace });
    await program.until(SYNCED);
  });

  after(async () => {
    await program?.stop('SIGKILL');
    namespace?.close();
    rmSync(folder, { recursive: true });
  });

  const run = (...args: string[]) => runKubeProxy(namespace, args);

  test('INSPECT-3 on TCP the API checks Host and Origin', async () => {
    const client = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port: 10_999 });
    const statusOf = async (headers: Record<string, string>) =>
      (await client.request({ method: 'GET', path: '/v1/status', headers })).status;
    assert.equal(await statusOf({ host: '127.0.0.1:10999' }), 200);
    assert.equal(await statusOf({ host: 'rebound.example:10999' }), 403);
    assert.equal(await statusOf({ host: '127.0.0.1:10999', origin: 'http://evil.example' }), 403);
    client.close();
  });

  test('INSPECT-9 INSPECT-11 INSPECT-12 INSPECT-13 INSPECT-14 every path of the list answers with its schema', async () => {
    const { routes } = (await askProxy(socket, '/v1')) as { routes: { path: string; parameters: object[] }[] };
    const paths = routes.map(({ path }) => path);
    for (const path of ['/v1/status', '/v1/problems', '/v1/configuration', '/v1/log', '/v1/metrics']) {
      assert.ok(paths.includes(path), path);
    }
    assert.deepEqual(await askProxy(socket, '/v1/problems'), {
      schema: 'pointsman.problems/v1',
      input: [],
      setAside: [],
      conflicts: [],
    });
    const configuration = (await askProxy(socket, '/v1/configuration')) as Record<string, Record<string, unknown>>;
    assert.equal(configuration.configuration?.kind, 'KubeProxyConfiguration');
    assert.equal(configuration.flags?.master, 'https://<redacted>@192.0.2.1');
    const log: unknown[] = [];
    for await (const row of readProxyLines(socket, '/v1/log')) log.push(row);
    // The log comes through a pipe, and may be later than the answer.
    await waitFor('all lines of the log are here', () => program.lines.length >= log.length - 1);
    assert.deepEqual(log, [
      { schema: 'pointsman.log/v1' },
      ...program.lines.slice(0, log.length - 1).map(line => ({ line })),
    ]);
    assert.match(await askProxyText(socket, '/v1/metrics'), /^pointsman_service_ports\{.*status="programmed"\} 7$/m);
  });

  test('INSPECT-15 INSPECT-16 INSPECT-17 plan, explain, services and history answer, and the spec has every path', async () => {
    const read = async (path: string) => {
      const rows: Record<string, unknown>[] = [];
      for await (const row of readProxyLines(socket, path)) rows.push(row as Record<string, unknown>);
      return rows;
    };
    const [head, ...rows] = await read('/v1/plan');
    assert.deepEqual(head, { schema: 'pointsman.plans/v1', node: 'node-a' });
    const plan = JSON.parse(run('plan', '--manifests', 'examples', ...FLAGS.slice(2, 4), '-o', 'json').stdout);
    const sorted = rows.sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
    assert.deepEqual(sorted, plan.services);
    assert.deepEqual(
      (await read('/v1/plan?service=web')).slice(1).map(({ name }) => name),
      ['web'],
    );
    assert.deepEqual(
      (await read('/v1/plan?service=kube-*/d*')).slice(1).map(({ name }) => name),
      ['dns'],
    );
    await assert.rejects(
      read('/v1/plan?service=wob'),
      /there is no Service "default\/wob": did you mean default\/web\?/,
    );
    const explanation = (await askProxy(socket, '/v1/explain?to=default/web&from=node')) as Record<string, unknown>;
    assert.equal(explanation.schema, 'pointsman.explanation/v1');
    await assert.rejects(askProxy(socket, '/v1/explain?to=a:b:c'), /"a:b:c" is neither a name nor an address/);
    assert.equal((await read('/v1/services'))[0]?.schema, 'pointsman.services/v1');
    assert.equal((await read('/v1/history'))[0]?.schema, 'pointsman.history/v1');
    const { routes } = (await askProxy(socket, '/v1')) as { routes: { path: string }[] };
    const spec = readFileSync('docs/spec/inspect.md', 'utf8');
    for (const { path } of routes)
      assert.ok(spec.includes(`\`${path}\``), `docs/spec/inspect.md does not have ${path}`);
  });

  test('INSPECT-6 many connections that ask nothing keep nobody from an answer', async () => {
    const idle = Array.from({ length: 100 }, () => connect(socket).on('error', () => {}));
    try {
      await Promise.all(idle.map(one => once(one, 'connect')));
      for (let i = 0; i < 5; i++) await askProxy(socket, '/v1/status');
      await waitFor('the proxy closes what is too much', () => idle.filter(one => !one.closed).length <= 64);
      const health = new HttpClient({ namespace, ip: '127.0.0.1' as Ip, port: 10_256 });
      assert.equal((await health.request({ method: 'GET', path: '/livez' })).status, 200);
      health.close();
    } finally {
      for (const one of idle) one.destroy();
    }
  });

  test('INSPECT-20 status asks through the socket, as text, JSON and YAML, and knows the last repair', async () => {
    nft(namespace, 'delete', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 10.96.0.10 }');
    await program.until('Repaired rules that another program changed');
    const text = run('status', '--inspect-socket', socket);
    assert.equal(text.status, 0, text.stderr);
    assert.match(
      text.stdout,
      /^✓ The proxy of node node-a is healthy\n {2}version +Pointsman \d+\.\d+\.\d+, Kubernetes v1/,
    );
    assert.match(text.stdout, /^ {2}running +for \d+ (?:s|min), since \d{4}-\S+Z, as process \d+$/m);
    assert.match(text.stdout, /^ {2}IPv4 +last sync \d+ s ago, 7 service ports programmed, 0 set aside$/m);
    assert.match(
      text.stdout,
      /^ {2}last syncs +\d+ (?:s|min) ago, IPv\d, (?:full|partial) sync: \d+ service ports? changed, /m,
    );
    assert.match(text.stdout, /^ {2}drift +1 repair, the last \d+ s ago \(IPv4\): .*; the proxy repaired it: /m);
    assert.match(text.stdout, /^ {2}memory +\d+ MB$/m);
    assert.match(text.stdout, /^ {2}✓ sync-IPv4 ok: last succeeded \d+ s ago$/m);
    const json = JSON.parse(run('status', '--inspect-socket', socket, '-o', 'json').stdout);
    assert.deepEqual([json.schema, json.verdict, json.pid], ['pointsman.statusReport/v1', 'healthy', program.pid]);
    assert.equal(json.lastRepair.family, 'IPv4');
    const yaml = parse(run('status', '--inspect-socket', socket, '-o', 'yaml').stdout);
    assert.deepEqual([yaml.schema, yaml.pid], [json.schema, json.pid]);
    await program.stop();
    const gone = run('status', '--inspect-socket', socket);
    assert.equal(gone.status, 2);
    assert.match(gone.stdout, /^\? No proxy answers: there is no socket at .*: check that a Pointsman proxy runs/);
  });
});
