import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runMain } from '../../../test/support/run-main.ts';

type Pages = Readonly<Record<string, readonly [status: number, body: string]>>;

const servers: { close(): void }[] = [];
after(() => {
  for (const server of servers) server.close();
});

/** A server at the loopback address. Paths that are not among the pages are 404. */
async function serve(pages: Pages): Promise<string> {
  return await listen((request, response) => {
    const [status, body] = pages[request.url ?? ''] ?? [404, 'not found'];
    response.writeHead(status).end(body);
  });
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function status(...args: string[]) {
  const { status: exit, ...printed } = await runMain(['status', ...args]);
  return { exit, ...printed };
}

/** Asks servers with these pages. */
async function statusOf(health: Pages, metrics: Pages, ...args: string[]) {
  const addresses = [`--healthz-bind-address=${await serve(health)}`, `--metrics-bind-address=${await serve(metrics)}`];
  return await status(...addresses, ...args);
}

const FAMILIES = {
  IPv4: { lastUpdated: '2026-01-01T10:00:00Z', healthy: true },
  IPv6: { lastUpdated: '0001-01-01T00:00:00Z', healthy: false },
};
const HEALTH = JSON.stringify({
  currentTime: '2026-01-01T10:00:07Z',
  nodeEligible: false,
  healthy: true,
  status: FAMILIES,
});

const METRICS = `# HELP kubernetes_build_info x
kubernetes_build_info{git_version="v1.37.0",platform="linux/amd64"} 1
pointsman_service_ports{ip_family="IPv4",status="programmed"} 7
pointsman_service_ports{ip_family="IPv4",status="set_aside"} 2
pointsman_sync_failures_total{ip_family="IPv4"} 3
pointsman_sync_failures_total{ip_family="IPv6"} 1
pointsman_drift_repairs_total{ip_family="IPv4"} 1
`;

const METRICS_PAGES: Pages = {
  '/proxyMode': [200, 'nftables'],
  '/metrics': [200, METRICS],
  '/configz': [200, JSON.stringify({ 'kubeproxy.config.k8s.io': { hostnameOverride: 'node-a' } })],
};

const CHECKS = `[+]sync-IPv4 ok: last succeeded 7 s ago
[-]sync-IPv6 failed: no sync has succeeded yet
[+]drift ok: 1 repair since the start
[+]set aside ok: default/web:http IPv4: refused
readyz check failed
`;

describe('kube-proxy status', () => {
  test('CLI-21 a proxy that is not ready: figures, failed checks and notes are printed, and the status is 1', async () => {
    const health: Pages = { '/livez': [200, HEALTH], '/healthz': [503, HEALTH], '/readyz?verbose': [503, CHECKS] };
    const { exit, stdout, stderr } = await statusOf(health, METRICS_PAGES);
    assert.deepEqual([exit, stderr], [1, '']);
    assert.deepEqual(stdout.split('\n'), [
      '✗ The proxy of node node-a is not healthy',
      '  version       Pointsman, Kubernetes v1.37.0',
      '  mode          nftables',
      '  IPv4          last sync 7 s ago, 7 service ports programmed, 2 set aside',
      '  IPv6          not healthy, no sync yet',
      '  failed syncs  4',
      '  drift         1 repair',
      '  node          load balancers must not send traffic to it',
      '  ✗ sync-IPv6 failed: no sync has succeeded yet',
      '  ! set aside ok: default/web:http IPv4: refused',
      '',
    ]);
  });

  test('CLI-21 a proxy that is ready but not alive is not healthy', async () => {
    const health: Pages = { '/livez': [503, HEALTH], '/healthz': [200, HEALTH], '/readyz?verbose': [200, 'ok'] };
    const { exit, stdout } = await statusOf(health, METRICS_PAGES);
    assert.equal(exit, 1);
    assert.match(stdout, /^ {2}alive +no: the kubelet restarts the pod$/m);
  });

  test('CLI-21 the proxy of upstream has no /readyz, and /healthz decides', async () => {
    const metrics: Pages = { ...METRICS_PAGES, '/metrics': [200, 'kubernetes_build_info{git_version="v1.36.4"} 1\n'] };
    const good = await statusOf({ '/livez': [200, HEALTH], '/healthz': [200, HEALTH] }, metrics);
    assert.equal(good.exit, 0, good.stdout);
    assert.match(
      good.stdout,
      /^✓ The proxy of node node-a is healthy\n {2}version +kube-proxy, Kubernetes v1\.36\.4\n/,
    );
    assert.match(good.stdout, /^ {2}IPv4 +last sync 7 s ago$/m);
    const bad = await statusOf({ '/livez': [200, HEALTH], '/healthz': [503, HEALTH] }, metrics);
    assert.equal(bad.exit, 1);
  });

  test('CLI-21 without an answer of the health server the status is 2, and the output has what to check', async () => {
    const { exit, stdout } = await status('--healthz-bind-address=127.0.0.1:1', '--metrics-bind-address=127.0.0.1:1');
    assert.equal(exit, 2);
    assert.match(stdout, /^\? No proxy answers at 127\.0\.0\.1:1: the connection is refused\n/);
    assert.match(stdout, /Check that\n {2}- a proxy runs on this node: kubectl /);
    const json = await status('--healthz-bind-address=127.0.0.1:1', '--metrics-bind-address=127.0.0.1:1', '-o', 'json');
    assert.equal(json.exit, 2);
    assert.equal(JSON.parse(json.stdout).verdict, 'unknown');
  });

  test('CLI-21 without a metrics server the health alone is shown, with the reason', async () => {
    const health = await serve({ '/livez': [200, HEALTH], '/healthz': [200, HEALTH], '/readyz?verbose': [200, 'ok'] });
    const { exit, stdout } = await status(`--healthz-bind-address=${health}`, '--metrics-bind-address=127.0.0.1:1');
    assert.equal(exit, 0);
    assert.match(stdout, /^ {2}metrics +no answer at 127\.0\.0\.1:1: the connection is refused$/m);
  });

  test('CLI-21 a proxy that ends in the middle of its answers is not taken for a healthy one', async () => {
    const address = await listen((_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    const { exit, stdout } = await status(`--healthz-bind-address=${address}`, `--metrics-bind-address=${address}`);
    assert.equal(exit, 2);
    assert.match(stdout, /: the connection broke off\n/);
  });

  test('CLI-21 a proxy that does not answer within 3 s gives the status 2', async () => {
    const address = await listen(request => servers.push({ close: () => request.destroy() }));
    const { exit, stdout } = await status(`--healthz-bind-address=${address}`, `--metrics-bind-address=${address}`);
    assert.equal(exit, 2);
    assert.match(stdout, /: no answer within 3 s\n/);
  });

  test('CLI-21 another program at the address is not taken for a healthy proxy, and cannot control the terminal', async () => {
    const { exit, stdout } = await statusOf({ '/readyz?verbose': [500, '[-]x\x1b[2J\n'] }, {});
    assert.equal(exit, 1);
    assert.doesNotMatch(stdout, /[^\P{C}\n]/u);
  });

  test('CLI-21 the addresses are those of the configuration file, and flags override them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'status-'));
    try {
      const pages: Pages = { '/livez': [200, HEALTH], '/healthz': [200, HEALTH] };
      const [health, metrics] = [await serve(pages), await serve(METRICS_PAGES)];
      const file = join(folder, 'config.yaml');
      const head = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
      writeFileSync(file, `${head}healthzBindAddress: ${health}\nmetricsBindAddress: ${metrics}\n`);
      const report = JSON.parse((await status('--config', file, '-o', 'json')).stdout);
      assert.deepEqual(report.servers, { health: { address: health }, metrics: { address: metrics } });
      const other = JSON.parse(
        (await status('--config', file, '--healthz-bind-address=127.0.0.1:1', '-o', 'json')).stdout,
      );
      assert.deepEqual([other.servers.health.address, other.servers.metrics.address], ['127.0.0.1:1', metrics]);
      const wildcard = JSON.parse(
        (await status('--healthz-bind-address=[::]:1', '--metrics-bind-address=0.0.0.0:1', '-o', 'json')).stdout,
      );
      assert.deepEqual([wildcard.servers.health.address, wildcard.servers.metrics.address], ['[::1]:1', '127.0.0.1:1']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('CLI-21 a wrong command line gives the status 2, which does not mean that the proxy is not healthy', async () => {
    for (const args of [['--wrong'], ['extra'], ['-o', 'xml']]) assert.equal((await status(...args)).exit, 2);
  });

  test('CLI-21 a configuration file that cannot be read gives the status 2', async () => {
    const { exit, stdout, stderr } = await status('--config', '/nonesuch');
    assert.deepEqual([exit, stdout, stderr], [2, '', 'Error: open /nonesuch: no such file or directory\n']);
  });

  test('CLI-22 --color always colours in a pipe, and never and NO_COLOR do not', async () => {
    const none = ['--healthz-bind-address=127.0.0.1:1', '--metrics-bind-address=127.0.0.1:1'];
    assert.ok((await status(...none, '--color=always')).stdout.includes('\x1b[33m?\x1b[39m'));
    for (const args of [['--color=never'], ['--color', 'auto'], []]) {
      assert.ok(!(await status(...none, ...args)).stdout.includes('\x1b'));
    }
    const { exit, stderr } = await status('--color=sometimes');
    assert.equal(exit, 2);
    assert.match(stderr, /^Error: invalid argument "sometimes" for "--color" flag: must be auto, always or never\n/);
  });
});
