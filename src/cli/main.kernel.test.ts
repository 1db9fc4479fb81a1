import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import { runMain } from '../../test/support/run-main.ts';
import { MODES } from '../modes/index.ts';

// These tests read the addresses of this machine. They need a Linux kernel, but not root.

const FLAGS = ['--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16,fd00:10:244::/48'];

const run = (...args: string[]) => runMain(args);

const folder = mkdtempSync(join(tmpdir(), 'plan-'));
after(() => rmSync(folder, { recursive: true }));

async function planOf(manifest: string, ...args: string[]) {
  writeFileSync(join(folder, 'objects.yaml'), manifest);
  return await run('plan', '--manifests', folder, ...FLAGS, ...args);
}

/** The notes of a plan of manifests without a Node. */
const NO_NODE = '! the manifests have no Node, so the plan uses the addresses of this machine\n';

const WEB = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {clusterIP: 10.96.0.10, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [10.244.1.10], nodeName: node-a}
- {addresses: [10.244.2.10], nodeName: node-b, conditions: {ready: false}}
`;

describe('kube-proxy plan', () => {
  test('IPT-15 --rules prints the input of iptables-restore for both families', async () => {
    const { status, stdout, stderr } = await planOf(WEB, '--proxy-mode', 'iptables', '--rules');
    assert.equal(status, 0);
    assert.ok(stderr.startsWith(NO_NODE), stderr);
    const [v4 = '', v6 = ''] = stdout.split('# ip6tables-restore --noflush --counters\n');
    assert.ok(v4.startsWith('# iptables-restore --noflush --counters\n*filter\n:KUBE-SERVICES - [0:0]\n'));
    assert.match(v4, /\n-A KUBE-SEP-\w+ -m comment --comment default\/web:http -s 10\.244\.1\.10 -j KUBE-MARK-MASQ\n/);
    assert.match(v6, /^\*filter\n.*! -d ::1\/128 -j KUBE-NODEPORTS\nCOMMIT\n$/s);
  });

  test('CLI-1 an unknown proxy mode is refused', async () => {
    const { status, stderr } = await planOf(WEB, '--proxy-mode', 'fast', '--rules');
    assert.equal(status, 1);
    assert.match(
      stderr,
      /invalid argument "fast" for "--proxy-mode" flag: must be nftables, ebpf, ipvs, iptables or userspace\nSee: /,
    );
  });

  for (const { name: mode } of MODES) {
    test(`MODE-9 plan --rules prints what a first start in ${mode} mode would write`, async () => {
      const { status, stdout, stderr } = await planOf(WEB, '--proxy-mode', mode, '--rules');
      assert.equal(status, 0);
      assert.ok(stderr.startsWith(NO_NODE), stderr);
      assert.match(stdout, /10\.96\.0\.10/);
    });
  }

  test('CLI-2 with the examples, the plan has every Service, both families and no problems', async () => {
    const { status, stdout, stderr } = await run('plan', '--manifests', 'examples', ...FLAGS);
    assert.deepEqual([status, stderr], [0, '']);
    for (const expected of [
      'Node node-a  zone zone-a, 192.168.0.2 fd00:192:168::2  6 Services',
      '  203.0.113.30:443   LoadBalancerIP  → 2 endpoints; only from 192.168.0.0/24, 198.51.100.0/24; masquerades everyone',
      'default/cart  TCP IPv4, ClientIP affinity 600 s',
      '  10.96.0.60:80  ClusterIP  reject: no endpoint can serve',
      "  192.168.0.2:30080  NodePort   → 1 local endpoint; pods and the node itself → 2 endpoints; masquerades the node's own traffic",
      '  ✓ 10.244.2.10:8080  node-b  cluster: ready, local: on another node',
      'kube-system/dns:dns  UDP IPv6',
      '  · [fd00:10:244:2::10]:53  node-b  hinted for other zones',
    ]) {
      assert.ok(stdout.split('\n').includes(expected), `${expected}\nis missing in\n${stdout}`);
    }
  });

  test('CLI-2 JSON and YAML contain the same report, with reasons', async () => {
    const json = await planOf(WEB, '-o', 'json');
    const yaml = await planOf(WEB, '-o', 'yaml');
    const report = JSON.parse(json.stdout);
    assert.deepEqual(parse(yaml.stdout), report);
    assert.deepEqual(report.services, [
      {
        namespace: 'default',
        name: 'web',
        ports: [
          {
            name: 'http',
            protocol: 'TCP',
            family: 'IPv4',
            internalTrafficPolicy: 'Cluster',
            frontends: [
              {
                kind: 'ClusterIP',
                address: '10.96.0.10',
                port: 80,
                policy: 'Cluster',
                action: 'forward',
                endpoints: 1,
                shortCircuit: 'none',
                masquerade: 'from-outside',
              },
            ],
            endpoints: [
              {
                address: '10.244.1.10:8080',
                node: 'node-a',
                local: true,
                clusterPolicy: { used: true, reason: 'ready' },
              },
              {
                address: '10.244.2.10:8080',
                node: 'node-b',
                local: false,
                clusterPolicy: { used: false, reason: 'not ready' },
              },
            ],
          },
        ],
      },
    ]);
  });

  test('CLI-2 problems are listed with their place, everything else is planned, and the exit status is 1', async () => {
    const broken = WEB.replace('{name: web', '{annotations: {pointsman.dev/balance: nine}, name: web');
    const bad =
      '---\napiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {clusterIP: 10.96.0.11, ports: [{port: 99999}]}\n';
    const { status, stdout } = await planOf(broken + bad);
    assert.equal(status, 1);
    assert.match(stdout, /^default\/web:http/m);
    assert.match(stdout, /Problems \(2\)/);
    assert.match(stdout, /objects\.yaml:\d+:\d+: Service default\/bad: spec\.ports\[0\]\.port/);
    assert.match(stdout, /Service default\/web: metadata\.annotations\[\S+\] "nine" is not random/);
  });

  test('CLI-18 no manifest can control the terminal, in any form of the output', async () => {
    const codes = String.raw`\e[2J\x9b1m\u202e\x7f\r\a`;
    const hostile = `${WEB.replace('node-b', `"node${codes}"`)}---
apiVersion: v1
kind: Service
metadata: {name: "web${codes}"}
spec: {clusterIP: "10.96.0.11${codes}", type: "x${codes}", ports: [{name: "p${codes}", port: 80}]}
`;
    for (const args of [['-o', 'text'], ['-o', 'json'], ['-o', 'yaml'], ...MODES.map(({ name }) => [name])]) {
      const [mode] = args;
      const flags = args.length > 1 ? args : ['--rules', '--proxy-mode', mode ?? ''];
      const { status, stdout, stderr } = await planOf(hostile, ...flags);
      assert.equal(status, 1);
      assert.doesNotMatch(stdout + stderr, /[^\P{C}\n]/u, `${flags}`);
    }
    const { problems } = JSON.parse((await planOf(hostile, '-o', 'json')).stdout);
    const objects = problems.map(({ object }: { object: string }) => object);
    assert.ok(objects.includes('Service default/web\x1b[2J\x9b1m\u202e\x7f\r\x07'));
  });

  test('CLI-18 no error of the command line can control the terminal', async () => {
    const { status, stderr } = await run('plan', '--manifests', '/none\x1b[2J\x9b');
    assert.equal(status, 1);
    assert.match(stderr, /^Error: cannot read manifests from \/none\\x1b\[2J\\u009b/);
    assert.doesNotMatch(stderr, /[^\P{C}\n]/u);
  });

  test('CLI-2 --service limits the report to one Service', async () => {
    const { stdout } = await run(
      'plan',
      '--manifests',
      'examples',
      ...FLAGS,
      '--service',
      'default/idle',
      '-o',
      'json',
    );
    assert.deepEqual(
      JSON.parse(stdout).services.map(({ name }: { name: string }) => name),
      ['idle'],
    );
  });

  test('CLI-2 plan counts the feature gates of the proxy', async () => {
    const external = WEB.replace('clusterIP: 10.96.0.10,', 'clusterIP: 10.96.0.10, externalIPs: [198.51.100.7],');
    assert.match((await planOf(external)).stdout, /198\.51\.100\.7/);
    const without = await planOf(external, '--feature-gates', 'AllowServiceExternalIPs=false');
    assert.equal(without.status, 0);
    assert.doesNotMatch(without.stdout, /198\.51\.100\.7/);
    const unknown = await planOf(external, '--feature-gates', 'Dance=true');
    assert.deepEqual([unknown.status, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /^Error: unrecognized feature gate: Dance\nSee: kube-proxy help plan\n$/);
  });

  test('CLI-2 if the manifests have no Node, this machine is the node', async () => {
    const { stdout } = await planOf(WEB);
    assert.match(stdout, /^Node node-a {2}no zone, /);
    assert.ok(stdout.includes(`  ${NO_NODE}`), stdout);
  });

  const errors: [string[], RegExp][] = [
    [['plan'], /^Error: no objects to read: give --manifests DIR \(or - for standard input\), or --kubeconfig FILE\n/],
    [
      ['plan', '--manifests', '/nonesuch'],
      /^Error: cannot read manifests from \/nonesuch: there is no such file or folder\n$/,
    ],
    [
      ['plan', '--manifests', 'examples', '-o', 'xml'],
      /^Error: invalid argument "xml" for "-o, --output" flag: must be text, json or yaml\nSee: kube-proxy help plan\n$/,
    ],
    [
      ['plan', 'extra'],
      /^Error: "kube-proxy plan" does not take any arguments, got \["extra"\]\nSee: kube-proxy help plan\n$/,
    ],
    [['plan', '--dance'], /^Error: unknown flag: --dance\nSee: kube-proxy help plan\n$/],
  ];
  for (const [args, message] of errors) {
    test(`CLI-2 kube-proxy ${args.join(' ')} fails with a clear message`, async () => {
      const { status, stdout, stderr } = await run(...args);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, message);
    });
  }

  test('CLI-71 a comparison with the kernel of another machine has a note', async () => {
    const { stderr } = await run('plan', '--manifests', 'examples', ...FLAGS, '--diff', '--proxy-mode', 'userspace');
    assert.equal(
      stderr,
      '! this machine has no address of Node node-a (192.168.0.2, fd00:192:168::2): is it the right machine?\n',
    );
  });

  test('CLI-2 --help prints the usage', async () => {
    const { status, stdout } = await run('plan', '--help');
    assert.equal(status, 0);
    assert.match(stdout, /--manifests DIR/);
  });
});
