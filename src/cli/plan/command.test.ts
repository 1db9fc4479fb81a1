import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile as writeToPipe } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { type MainResult, runMain } from '../../../test/support/run-main.ts';

const NODE = `
apiVersion: v1
kind: Node
metadata: {name: node-a}
spec: {podCIDRs: [10.244.1.0/24]}
status: {addresses: [{type: InternalIP, address: 192.168.0.2}, {type: InternalIP, address: 10.1.0.2}]}
---`;
const WEB = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  type: NodePort
  clusterIP: 10.96.0.10
  ports: [{name: http, port: 80, nodePort: 30080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [10.244.1.10], nodeName: node-a}
`;
const OBJECTS = NODE + WEB;
const CIDR = ['--cluster-cidr', '10.244.0.0/16'];

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'plan-'));
});
after(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function run(stdin: string | undefined, ...args: readonly string[]): Promise<MainResult> {
  return await runMain(['plan', ...args], { stdin });
}

/** The plan of objects from standard input. */
const planOf = (objects: string, ...args: readonly string[]) => run(objects, '--manifests', '-', ...CIDR, ...args);

/** The lines after the marks `!` (notes) or `✗` (problems). */
function marked({ stdout }: MainResult, mark: '!' | '✗'): readonly string[] {
  return stdout.split('\n').flatMap(line => (line.startsWith(`  ${mark} `) ? [line.slice(4)] : []));
}

async function problemsOf(objects: string, ...args: readonly string[]): Promise<readonly string[]> {
  const result = await planOf(objects, ...args);
  const problems = marked(result, '✗');
  assert.equal(result.status, problems.length > 0 ? 1 : 0, result.stdout + result.stderr);
  return problems;
}

async function notesOf(objects: string, ...args: readonly string[]): Promise<readonly string[]> {
  const result = await planOf(objects, ...args);
  assert.equal(result.status, 0, result.stdout + result.stderr);
  return marked(result, '!');
}

describe('sources', () => {
  test('CLI-69 standard input, a file and a folder give the same plan', async () => {
    const path = file('objects.yaml', OBJECTS);
    mkdirSync(join(folder, 'objects'));
    writeFileSync(join(folder, 'objects', 'a.yaml'), OBJECTS);
    const fromStdin = await planOf(OBJECTS);
    assert.deepEqual([fromStdin.status, fromStdin.stderr], [0, '']);
    assert.match(fromStdin.stdout, /^Node node-a .*1 Service\n\ndefault\/web:http /);
    assert.deepEqual(await run(undefined, '--manifests', path, ...CIDR), fromStdin);
    assert.deepEqual(await run(undefined, '--manifests', join(folder, 'objects'), ...CIDR), fromStdin);
  });

  test('CLI-69 a pipe is read to its end', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const [{ status, stdout }] = await Promise.all([
      run(undefined, '--manifests', path, ...CIDR),
      writeToPipe(path, OBJECTS),
    ]);
    assert.deepEqual([status, stdout], [0, (await planOf(OBJECTS)).stdout]);
  });

  test('CLI-69 a problem of standard input has its line and column', async () => {
    assert.deepEqual(await problemsOf(OBJECTS.replace('port: 80,', 'port: 99999,')), [
      'standard input:14:30: Service default/web: spec.ports[0].port is the number 99999, but must be a whole number from 1 to 65535: correct it (the object is not used)',
    ]);
    assert.deepEqual(await problemsOf(`${NODE}\n\0`), [
      'standard input: is binary (it has a NUL byte): write it as UTF-8 text (nothing of it is used)',
    ]);
  });

  test('CLI-69 two sources, and no source, are errors', async () => {
    const both = await run('', '--manifests', '-', '--kubeconfig', '/x');
    assert.match(both.stderr, /^Error: --manifests and --kubeconfig name two sources: give one of them\n/);
    assert.match((await run('')).stderr, /^Error: no objects to read: give --manifests DIR/);
  });

  test('CLI-69 an unusable kubeconfig or context and an unreachable server are errors that say what to do', async () => {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { token: 'secret' } }],
      contexts: [{ name: 'one', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'one',
    };
    const path = file('kubeconfig', JSON.stringify(config));
    const refused = await run(undefined, '--kubeconfig', path);
    assert.deepEqual([refused.status, refused.stdout], [1, '']);
    assert.match(refused.stderr, /^Error: cannot list \/\S+ of 127\.0\.0\.1:1: .*refused/);
    const context = await run(undefined, '--kubeconfig', path, '--context', 'two');
    assert.match(context.stderr, /^Error: kubeconfig \S+: contexts: there is no context two \(contexts has one\)\n/);
    const none = await run(undefined, '--kubeconfig', join(folder, 'none'));
    assert.match(none.stderr, /^Error: .*\/none: /);
    const named = file('named.yaml', configuration(`clientConnection: {kubeconfig: ${path}}`));
    assert.match((await run(undefined, '--config', named)).stderr, /^Error: cannot list \/\S+ of 127\.0\.0\.1:1: /);
  });
});

describe('the node', () => {
  const second = NODE.replaceAll('node-a', 'node-b');

  test('CLI-70 the only Node is the node', async () => {
    assert.match((await planOf(OBJECTS)).stdout, /^Node node-a {2}no zone, 192\.168\.0\.2 ::1 {2}1 Service\n/);
  });

  test('CLI-70 an unknown name is an error that lists the Nodes, the nearest first', async () => {
    const nodes = `${second}${NODE.replaceAll('node-a', 'worker')}${OBJECTS}`;
    for (const flag of ['--node', '--hostname-override']) {
      const { status, stdout, stderr } = await planOf(nodes, flag, 'worke');
      assert.deepEqual([status, stdout], [1, '']);
      assert.equal(
        stderr,
        'Error: there is no Node worke in standard input: the Nodes are worker, node-a, node-b\nDid you mean --node worker? See: kube-proxy help plan\n',
      );
    }
    const config = file('named-node.yaml', configuration('hostnameOverride: node-c'));
    assert.match((await planOf(nodes, '--config', config)).stderr, /^Error: there is no Node node-c in standard input/);
    assert.match((await planOf(nodes, '--config', config, '--node', 'node-b')).stdout, /^Node node-b /);
  });

  test('CLI-70 several Nodes and no name are an error that lists the Nodes', async () => {
    const { status, stderr } = await planOf(second + OBJECTS);
    assert.equal(status, 1);
    assert.match(stderr, /^Error: standard input has 2 Nodes: name one with --node: node-a, node-b\n/);
    const many = Array.from({ length: 12 }, (_, i) => NODE.replaceAll('node-a', `n-${i}`)).join('');
    assert.match((await planOf(many + WEB)).stderr, /: n-0, n-1, n-10, n-11, n-2, .* and 2 more\n/);
  });

  test('CLI-70 two flags that name different nodes are an error', async () => {
    const { stderr } = await planOf(OBJECTS, '--node', 'node-a', '--hostname-override', 'node-b');
    assert.match(
      stderr,
      /^Error: --node node-a and --hostname-override node-b name different nodes: give one of them\n/,
    );
  });
});

function configuration(fields: string): string {
  return `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n${fields}\n`;
}

describe('settings', () => {
  test('CLI-71 the configuration file counts, and flags override it', async () => {
    const path = file(
      'config.yaml',
      configuration(
        'mode: iptables\nclusterCIDR: 10.244.0.0/16\nnodePortAddresses: [10.1.0.0/16]\niptables: {masqueradeAll: true}',
      ),
    );
    const plan = async (...args: string[]) =>
      (await run(OBJECTS, '--manifests', '-', '--config', path, ...args)).stdout;
    assert.match(await plan(), / 10\.96\.0\.10:80 .*masquerades everyone\n {2}10\.1\.0\.2:30080 {2}NodePort/);
    assert.match(await plan('--masquerade-all=false'), / 10\.96\.0\.10:80 .*masquerades outsiders/);
    assert.match(await plan('--nodeport-addresses', '192.168.0.0/16'), / 192\.168\.0\.2:30080 {2}NodePort/);
    assert.match(await plan('--rules'), /iptables-restore/);
  });

  test('CLI-78 --rules has the rule that keeps source ports of node processes, if the proxy runs with that flag', async () => {
    const rules = async (...args: readonly string[]) => (await planOf(OBJECTS, '--rules', ...args)).stdout;
    for (const mode of ['nftables', 'iptables', 'ebpf']) {
      const kept = /keep source ports of node processes/;
      assert.match(await rules('--proxy-mode', mode, '--keep-node-source-ports'), kept, mode);
      assert.doesNotMatch(await rules('--proxy-mode', mode), kept, mode);
    }
  });

  test('CLI-71 a mode that contradicts the file, and a file without a mode, are notes', async () => {
    const path = file('mode.yaml', configuration('mode: ipvs'));
    assert.deepEqual(await notesOf(OBJECTS, '--config', path, '--proxy-mode', 'nftables'), [
      `--proxy-mode nftables overrides the mode ipvs of ${path}`,
    ]);
    const none = file('no-mode.yaml', configuration(''));
    assert.deepEqual(await notesOf(OBJECTS, '--config', none), [
      `${none} names no mode, so this is the plan of iptables mode: set --proxy-mode`,
    ]);
  });

  test('CLI-71 settings that a proxy refuses are errors', async () => {
    const wrong = await planOf(OBJECTS, '--cluster-cidr', '10.244.0.0/33');
    assert.deepEqual([wrong.status, wrong.stdout], [1, '']);
    assert.match(wrong.stderr, /^Error: KubeProxyConfiguration\.DetectLocalConfiguration\.ClusterCIDRs\[1\]/i);
    assert.match((await planOf(OBJECTS, '--detect-local-mode', 'Magic')).stderr, /^Error: .*DetectLocalMode/i);
    const path = file('broken.yaml', 'mode: [');
    assert.match(
      (await planOf(OBJECTS, '--config', path)).stderr,
      /^Error: cannot use the configuration file \S+broken\.yaml: /,
    );
    const gone = await planOf(OBJECTS, '--config', join(folder, 'gone.yaml'));
    assert.match(gone.stderr, /^Error: cannot use the configuration file \S+: open \S+: no such file or directory\n/);
  });

  const noDetector = 'the proxy on node-a does not recognise connections of pods';
  const notes: readonly [title: string, objects: string, args: readonly string[], expected: readonly string[]][] = [
    [
      'no pod range',
      OBJECTS,
      ['--cluster-cidr='],
      [`${noDetector} (IPv4): set --cluster-cidr to the ranges of the pods`],
    ],
    [
      'a pod range of one family on a dual-stack node',
      OBJECTS.replace('10.1.0.2', 'fd00::2'),
      [],
      [`${noDetector} (IPv6): set --cluster-cidr to the ranges of the pods`],
    ],
    [
      'pod ranges of two families on a node with one',
      OBJECTS,
      ['--cluster-cidr', '10.244.0.0/16,fd00:10::/64'],
      ['there are pods with IPv6 addresses (--cluster-cidr), but Node node-a has no IPv6 address'],
    ],
    [
      'a pod range of the other family only',
      OBJECTS,
      ['--cluster-cidr', 'fd00:10::/64'],
      [
        `${noDetector} (IPv4): set --cluster-cidr to the ranges of the pods`,
        'there are pods with IPv6 addresses (--cluster-cidr), but Node node-a has no IPv6 address',
        'cluster is IPv4-primary but clusterCIDRs contains only IPv6 addresses',
      ],
    ],
    [
      'NodeCIDR without pod ranges',
      OBJECTS.replace('podCIDRs: [10.244.1.0/24]', ''),
      ['--detect-local-mode', 'NodeCIDR'],
      [
        `${noDetector} (IPv4): detect-local-mode NodeCIDR needs spec.podCIDRs of the Node, and a proxy in a cluster does not start without it`,
      ],
    ],
    [
      'a Node without addresses',
      OBJECTS.replace(/status: .*/, ''),
      [],
      ['Node node-a has no InternalIP and no ExternalIP, so its address is not known: set --bind-address'],
    ],
    [
      'a Node without addresses, and --bind-address',
      OBJECTS.replace(/status: .*/, ''),
      ['--bind-address', '192.168.0.2'],
      [],
    ],
    [
      'pod ranges of another cluster',
      OBJECTS,
      ['--cluster-cidr', '10.200.0.0/16'],
      ['no IPv4 endpoint is in 10.200.0.0/16, the range of the pods: is the range right?'],
    ],
    ['endpoints that are nodes', OBJECTS.replace('10.244.1.10', '10.1.0.2'), ['--cluster-cidr', '10.200.0.0/16'], []],
    [
      'pod ranges of the node that no pod of the node has',
      OBJECTS.replace('podCIDRs: [10.244.1.0/24]', 'podCIDRs: [10.244.2.0/24]'),
      ['--detect-local-mode', 'NodeCIDR'],
      ['no IPv4 endpoint is in 10.244.2.0/24, the range of the pods: is the range right?'],
    ],
    [
      'an endpoint on a node that does not exist',
      `${NODE.replaceAll('node-a', 'node-b')}${OBJECTS.replace('nodeName: node-a', 'nodeName: nodea')}`,
      ['--node', 'node-a'],
      ['there are endpoints on nodes that do not exist: nodea'],
    ],
    [
      'a feature gate that will go',
      OBJECTS,
      ['--feature-gates', 'AllowServiceExternalIPs=true'],
      ['AllowServiceExternalIPs=true: Warning: setting GA feature gate. It will be removed in a future release.'],
    ],
    [
      'a load balancer without an address',
      OBJECTS.replace('type: NodePort', 'type: LoadBalancer'),
      [],
      ['type LoadBalancer, but status.loadBalancer.ingress has no IP address: default/web'],
    ],
    [
      'a load balancer that answers itself',
      OBJECTS.replace(
        'spec:\n  type: NodePort',
        'status: {loadBalancer: {ingress: [{ip: 203.0.113.1, ipMode: Proxy}]}}\nspec:\n  type: LoadBalancer',
      ),
      [],
      ['the load balancer answers itself (ipMode Proxy), so a proxy does not answer at its address: default/web'],
    ],
    [
      'external IPs that do not count',
      OBJECTS.replace('type: NodePort', 'type: NodePort\n  externalIPs: [203.0.113.1]'),
      ['--feature-gates', 'AllowServiceExternalIPs=false'],
      [
        'AllowServiceExternalIPs=false: Warning: setting GA feature gate. It will be removed in a future release.',
        'external IPs do not count, because the feature gate AllowServiceExternalIPs is off: default/web',
      ],
    ],
    [
      'objects of other kinds',
      `${OBJECTS}---\napiVersion: apps/v1\nkind: Deployment\n---\napiVersion: v1\nkind: Endpoints\nmetadata: {name: web}\n---\napiVersion: v1\nkind: PodList\n`,
      [],
      [
        'objects of other kinds do not count: 1 Deployment.apps, 1 Endpoints, 1 PodList (a proxy reads EndpointSlices, not Endpoints)',
      ],
    ],
  ];
  for (const [title, objects, args, expected] of notes) {
    test(`CLI-71 CLI-75 notes of ${title}`, async () => {
      const result = await run(
        objects,
        '--manifests',
        '-',
        ...(args[0]?.startsWith('--cluster-cidr') ? [] : CIDR),
        ...args,
      );
      assert.equal(result.status, 0, result.stdout);
      assert.deepEqual(marked(result, '!'), expected);
    });
  }

  test('CLI-71 with --rules, notes and problems go to stderr', async () => {
    const objects = OBJECTS.replace('clusterIP:', 'colour: red\n  clusterIP:');
    const result = await run(objects, '--manifests', '-', '--rules');
    assert.equal(result.status, 1);
    assert.match(
      result.stderr,
      /^! the proxy on node-a does not recognise .*\n✗ standard input:13:3: Service default\/web: spec\.colour is no field/,
    );
    assert.match(result.stdout, /^# one transaction of table ip kube-proxy\n/);
  });
});

describe('--service', () => {
  const shop = WEB.replaceAll('default', 'shop')
    .replaceAll('10.96.0.10', '10.96.0.11')
    .replace(', nodePort: 30080', '');
  const services = async (...patterns: readonly string[]) => {
    const { stdout } = await planOf(`${OBJECTS}---${shop}`, '-o', 'json', ...patterns.flatMap(p => ['--service', p]));
    return JSON.parse(stdout).services.map(({ namespace, name }: Record<string, string>) => `${namespace}/${name}`);
  };

  test('CLI-72 patterns select Services', async () => {
    assert.deepEqual(await services(), ['default/web', 'shop/web']);
    assert.deepEqual(await services('shop/*'), ['shop/web']);
    assert.deepEqual(await services('*/w?b'), ['default/web', 'shop/web']);
    assert.deepEqual(await services('*/w?'), []);
    assert.deepEqual(await services('web'), ['default/web']);
    assert.deepEqual(await services('w*'), ['default/web', 'shop/web']);
    assert.deepEqual(await services('web', 'shop/web'), ['default/web', 'shop/web']);
    assert.deepEqual(await services('default/web,shop/w*'), ['default/web', 'shop/web']);
  });

  const misses: readonly [pattern: string, message: string][] = [
    ['default/wbe', 'no Service of standard input matches default/wbe: did you mean default/web?'],
    ['wbe', 'no Service of standard input matches default/wbe: did you mean default/web?'],
    ['kube-system/web', 'no Service of standard input matches kube-system/web: did you mean default/web?'],
    ['shop/*', 'no Service of standard input matches shop/*'],
    ['nothing/like-it', 'no Service of standard input matches nothing/like-it'],
  ];
  for (const [pattern, message] of misses) {
    test(`CLI-72 ${pattern} matches nothing, which is a problem`, async () => {
      assert.deepEqual(await problemsOf(OBJECTS, '--service', pattern), [`--service ${pattern}: ${message}`]);
    });
  }

  test('CLI-72 a Service that cannot be used is not called missing', async () => {
    const problems = await problemsOf(OBJECTS.replace('clusterIP: 10.96.0.10', ''), '--service', 'web');
    assert.equal(problems.length, 2);
    assert.match(problems[0] ?? '', /Service default\/web: spec\.clusterIP is missing, and nothing allocates one/);
    assert.equal(problems[1], '--service web: Service default/web cannot be used, because of the problem above');
  });
});

describe('slices that serve nothing', () => {
  const slice = 'standard input:16:1: EndpointSlice default/web-1:';
  const label = 'metadata.labels["kubernetes.io/service-name"]';
  const two = OBJECTS.replace(
    'nodePort: 30080}',
    'nodePort: 30080}, {name: metrics, port: 9090, nodePort: 30090, targetPort: prom}',
  );
  const cases: readonly [title: string, objects: string, expected: readonly string[]][] = [
    [
      'a slice without the label',
      OBJECTS.replace('kubernetes.io/service-name: web', 'app: web'),
      [
        `${slice} metadata.labels[kubernetes.io/service-name] is missing, so the slice belongs to no Service and is left out`,
      ],
    ],
    [
      'a slice of a Service that does not exist',
      OBJECTS.replace('service-name: web', 'service-name: wbe'),
      [`${slice} ${label} names the Service default/wbe, which does not exist: did you mean default/web?`],
    ],
    [
      'a slice in another namespace',
      OBJECTS.replace('name: web-1, namespace: default', 'name: web-1, namespace: shop'),
      [
        `standard input:16:1: EndpointSlice shop/web-1: ${label} names the Service shop/web, which does not exist: did you mean default/web?`,
      ],
    ],
    [
      'a port with another name',
      OBJECTS.replace('{name: http, port: 8080}', '{name: htp, port: 8080}'),
      [`${slice} ports[0].name is htp, but Service default/web has the port http: did you mean http?`],
    ],
    [
      'a port without a name',
      OBJECTS.replace('{name: http, port: 8080}', '{port: 8080}'),
      [`${slice} ports[0].name is empty, but Service default/web has the port http: did you mean http?`],
    ],
    [
      'a port with a name that its Service does not need',
      OBJECTS.replace('{name: http, port: 80,', '{port: 80,'),
      [`${slice} ports[0].name is http, but Service default/web has one port without a name`],
    ],
    [
      'a port with another name than the two of its Service',
      two.replace('{name: http, port: 8080}', '{name: metrcs, port: 8080}'),
      [`${slice} ports[0].name is metrcs, but Service default/web has the ports http, metrics: did you mean metrics?`],
    ],
    [
      'a port with another protocol',
      OBJECTS.replace('{name: http, port: 8080}', '{name: http, port: 8080, protocol: UDP}'),
      [`${slice} ports[0].protocol is UDP, but the port http of Service default/web is TCP`],
    ],
    [
      'endpoints without ports',
      OBJECTS.replace('{name: http, port: 8080}', ''),
      [`${slice} ports is empty, so Service default/web cannot use the 1 endpoints`],
    ],
    [
      'endpoints without ports, and a targetPort by name',
      OBJECTS.replace('ports: [{name: http, port: 8080}]', 'ports: []').replace(
        'port: 80,',
        'port: 80, targetPort: www,',
      ),
      [
        `${slice} ports is empty, so Service default/web cannot use the 1 endpoints: its pods probably have no container port with the name www, which targetPort wants`,
      ],
    ],
    [
      'a port that no slice has',
      two,
      [
        'standard input:8:1: Service default/web: spec.ports[1].name is metrics (TCP), but no EndpointSlice of the Service has such a port: its pods probably have no container port with the name prom, which targetPort wants',
      ],
    ],
    ['a port that no slice has, without endpoints', two.replace(/endpoints:\n.*/, 'endpoints: []'), []],
    [
      'names instead of addresses',
      OBJECTS.replace('addressType: IPv4', 'addressType: FQDN').replace('10.244.1.10', 'web.example.com'),
      [`${slice} addressType is FQDN, which no proxy uses: give Service default/web endpoints with IP addresses`],
    ],
    [
      'the other family',
      OBJECTS.replace('addressType: IPv4', 'addressType: IPv6').replace('10.244.1.10', 'fd00::10'),
      [`${slice} addressType is IPv6, but Service default/web has only addresses of IPv4`],
    ],
    [
      'a slice with the label of headless Services',
      OBJECTS.replace('service-name: web', 'service-name: web, service.kubernetes.io/headless: ""'),
      [
        `${slice} metadata.labels["service.kubernetes.io/headless"] makes proxies ignore the slice, but Service default/web is not headless: remove the label`,
      ],
    ],
    [
      'a headless Service',
      OBJECTS.replace('10.96.0.10', 'None')
        .replace('  type: NodePort\n', '')
        .replace('name: http, port: 8080', 'name: x, port: 1')
        .replace(', nodePort: 30080', ''),
      [],
    ],
  ];
  for (const [title, objects, expected] of cases) {
    test(`CLI-73 ${title}`, async () => assert.deepEqual(await problemsOf(objects), expected));
  }

  test('CLI-73 a slice of a Service that cannot be used adds no problem', async () => {
    const problems = await problemsOf(OBJECTS.replace('clusterIP: 10.96.0.10', ''));
    assert.equal(problems.length, 1);
  });
});

describe('node ports', () => {
  const accepted = async (...args: readonly string[]) => {
    const { stdout } = await planOf(OBJECTS, ...args);
    const { services } = JSON.parse((await planOf(OBJECTS, '-o', 'json', ...args)).stdout);
    const { acceptedAt } = services[0].ports[0].frontends[1];
    return [/^ *(\S+) +NodePort +(.*)$/m.exec(stdout)?.slice(1, 3).join(' '), acceptedAt];
  };

  test('CLI-74 a node port shows the addresses that accept it', async () => {
    const rest = '→ 1 endpoint; ';
    assert.deepEqual(await accepted(), [`192.168.0.2:30080 ${rest}masquerades everyone`, ['192.168.0.2']]);
    assert.deepEqual(await accepted('--proxy-mode', 'iptables'), [
      `*:30080 ${rest}at every address of the node; masquerades everyone`,
      'all',
    ]);
    assert.deepEqual(await accepted('--nodeport-addresses', 'all'), [
      `*:30080 ${rest}at every address of the node; masquerades everyone`,
      'all',
    ]);
    assert.deepEqual(await accepted('--nodeport-addresses', '10.0.0.0/8,192.168.0.0/16'), [
      `*:30080 ${rest}at 10.1.0.2, 192.168.0.2; masquerades everyone`,
      ['10.1.0.2', '192.168.0.2'],
    ]);
    assert.deepEqual(await accepted('--nodeport-addresses', 'localhost'), [
      `127.0.0.1:30080 ${rest}masquerades everyone`,
      ['127.0.0.1'],
    ]);
    assert.deepEqual(await accepted('--nodeport-addresses', '172.16.0.0/12'), [
      `*:30080 ${rest}at no address of the node: nodePortAddresses has none of them; masquerades everyone`,
      [],
    ]);
  });

  test('CLI-74 the rules have the addresses of the Node, not those of this machine', async () => {
    const { status, stdout } = await planOf(OBJECTS, '--rules', '--proxy-mode', 'nftables');
    assert.equal(status, 0);
    assert.match(stdout, /^add element ip kube-proxy nodeport-ips \{ 192\.168\.0\.2 /m);
  });
});

describe('objects that do not count', () => {
  test('CLI-75 Services for which a proxy does nothing are listed with the reason', async () => {
    const service = (name: string, more: string) =>
      `---\napiVersion: v1\nkind: Service\nmetadata: {name: ${name}${name === 'mesh' ? ', labels: {service.kubernetes.io/service-proxy-name: mesh}' : ''}}\nspec: ${more}\n`;
    const objects = [
      OBJECTS,
      service('db', '{clusterIP: None, ports: [{port: 1}]}'),
      service('ext', '{type: ExternalName, externalName: example.com}'),
      service('mesh', '{clusterIP: 10.96.0.12, ports: [{port: 1}]}'),
      service('bare', '{clusterIP: 10.96.0.13}'),
    ].join('');
    const { status, stdout } = await planOf(objects);
    assert.equal(status, 0);
    assert.ok(
      stdout.endsWith(`
Not served (4)
  default/bare  it has no ports
  default/db    headless (clusterIP None): DNS gives its clients the addresses of the pods
  default/ext   type ExternalName: DNS gives its clients another name
  default/mesh  the label service.kubernetes.io/service-proxy-name leaves it to another proxy
`),
      stdout,
    );
    const one = await planOf(objects, '--service', 'db', '-o', 'json');
    assert.equal(one.status, 0);
    const { services, notServed } = JSON.parse(one.stdout);
    assert.deepEqual([services.length, notServed.length, notServed[0].name], [0, 1, 'db']);
  });

  test('CLI-75 an empty folder and input without objects are problems', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    writeFileSync(join(empty, 'README.md'), 'no manifest');
    const result = await run(
      undefined,
      '--manifests',
      empty,
      ...CIDR,
      '--node',
      'node-a',
      '--bind-address',
      '10.0.0.1',
    );
    assert.equal(result.status, 1);
    assert.deepEqual(marked(result, '✗'), [`${empty}: has no manifests: no file in it ends in .yaml, .yml or .json`]);
    const kinds = 'has no Service, EndpointSlice, Node or ServiceCIDR';
    assert.deepEqual(await problemsOf(''), [`standard input: ${kinds}: it is empty`]);
    assert.deepEqual(await problemsOf('apiVersion: v1\nkind: Pod\n'), [`standard input: ${kinds}`]);
    assert.deepEqual(await problemsOf('apiVersion: v1\nkind: List\nitems: []\n'), [
      `standard input: ${kinds}: it is empty`,
    ]);
    assert.deepEqual(await problemsOf('# A document\nNot a manifest.\n'), [
      'standard input:2:1: is the text "Not a manifest.", but must be a map with apiVersion and kind (nothing of it is used)',
    ]);
  });

  test('CLI-75 Services without any slices are a note, and slices without any Services are one problem', async () => {
    const [services = '', slices = ''] = WEB.split('---');
    assert.deepEqual(await notesOf(NODE + services), [
      'there are no EndpointSlices, so no Service has endpoints: add the EndpointSlices',
    ]);
    assert.deepEqual(await problemsOf(NODE + slices), [
      'standard input: has EndpointSlices (1), but no Services: add the Services',
    ]);
  });

  test('CLI-75 an object that is there twice is a problem', async () => {
    assert.deepEqual(await problemsOf(`${OBJECTS}---\n${NODE}`), [
      'standard input:25:1: Node node-a: is also at standard input:2:1, which is used: remove one',
    ]);
  });
});

test('CLI-76 JSON and YAML have the schema, notes and all fields', async () => {
  const json = await planOf(OBJECTS, '-o', 'json');
  const report = JSON.parse(json.stdout);
  assert.deepEqual(parse((await planOf(OBJECTS, '-o', 'yaml')).stdout), report);
  assert.deepEqual(Object.keys(report), ['schema', 'node', 'services', 'notServed', 'notes', 'problems']);
  assert.equal(report.schema, 'pointsman.plan/v1');
  assert.match(stringify(report), /acceptedAt:\n +- 192\.168\.0\.2\n/);
});

describe('the balance of a Service', () => {
  const second = '\n- {addresses: [10.244.2.10], nodeName: node-b, zone: zone-b}\n';
  const annotated = (annotations: string) =>
    `${OBJECTS.replace('{name: web, namespace: default}', `{name: web, namespace: default, annotations: ${annotations}}`)}${second}`;

  test('BALANCE-20 the plan shows the algorithm, who chose it, weights and shares', async () => {
    const objects = annotated('{pointsman.dev/balance: weighted, pointsman.dev/weights: "10.244.1.10=3"}');
    const { stdout } = await planOf(objects, '--node', 'node-a');
    assert.match(stdout, /TCP IPv4, balance weighted \(annotation\)$/m);
    assert.match(stdout, /10\.244\.1\.10:8080 +node-a +ready +weight 3, gets 75 %$/m);
    assert.match(stdout, /10\.244\.2\.10:8080 +node-b +ready +weight 1, gets 25 %$/m);
    const { services } = JSON.parse((await planOf(objects, '--node', 'node-a', '-o', 'json')).stdout);
    const [port] = services[0].ports;
    assert.deepEqual(port.balance, { algorithm: 'weighted', from: 'annotation' });
    assert.deepEqual(
      port.endpoints.map(({ weight, clusterPolicy }: Record<string, { share: number }>) => [
        weight,
        clusterPolicy?.share,
      ]),
      [
        [3, 0.75],
        [1, 0.25],
      ],
    );
  });

  test('BALANCE-20 with least connections the plan has no shares, and says that they follow the connections', async () => {
    const { stdout } = await planOf(annotated('{pointsman.dev/balance: least-connections}'), '--node', 'node-a');
    assert.match(stdout, /balance least-connections \(annotation\): shares follow the open connections$/m);
    assert.doesNotMatch(stdout, /gets/);
  });

  test('BALANCE-20 the plan shows what a Service asks for when endpoints come, fail and go', async () => {
    const asked = async (annotations: string) => {
      const objects = annotated(annotations);
      const { stdout } = await planOf(objects, '--node', 'node-a');
      const { services } = JSON.parse((await planOf(objects, '--node', 'node-a', '-o', 'json')).stdout);
      const { slowStartSeconds, ejectAfterFailures, resetAfterSeconds } = services[0].ports[0];
      return [/TCP IPv4(.*)$/m.exec(stdout)?.[1], slowStartSeconds, ejectAfterFailures, resetAfterSeconds];
    };
    assert.deepEqual(await asked('{pointsman.dev/endpoint-end: drain}'), ['', undefined, undefined, undefined]);
    assert.deepEqual(await asked('{pointsman.dev/endpoint-end: drain-then-reset}'), [
      ', connections end 30 s after their endpoint',
      undefined,
      undefined,
      30,
    ]);
    const annotations = ['slow-start-seconds: "60"', 'eject-after-failures: "5"', 'endpoint-end: reset'];
    assert.deepEqual(await asked(`{${annotations.map(text => `pointsman.dev/${text}`).join(', ')}}`), [
      ', slow start 60 s, left out after 5 failures, connections end with their endpoint',
      60,
      5,
      0,
    ]);
  });

  test('BALANCE-3 BALANCE-20 the plan says what the mode cannot do, as a problem', async () => {
    const objects = annotated('{pointsman.dev/balance: consistent-hash}');
    const result = await planOf(objects, '--node', 'node-a', '--proxy-mode', 'iptables');
    assert.match(result.stdout, /balance as the mode does \(consistent-hash is not available\)/);
    assert.deepEqual(marked(result, '✗'), [
      'standard input:8:1: Service default/web: metadata.annotations[pointsman.dev/balance] consistent-hash is not available in iptables mode, which chooses at random instead; this mode has random, round-robin, weighted',
    ]);
  });

  test('CLI-79 BALANCE-2 BALANCE-4 the plan follows --default-balance, and notes if it has no effect', async () => {
    const given = ['--default-balance', 'consistent-hash'];
    const hashed = await planOf(OBJECTS, '--node', 'node-a', ...given);
    assert.match(hashed.stdout, /balance consistent-hash by client-address \(default\)/);
    const ignored = await planOf(OBJECTS, '--node', 'node-a', '--proxy-mode', 'iptables', ...given);
    assert.doesNotMatch(ignored.stdout, /, balance /);
    assert.ok(marked(ignored, '!').some(note => note.startsWith('--default-balance consistent-hash has no effect')));
  });
});
