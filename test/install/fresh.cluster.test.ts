import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../control-plane/objects.ts';
import { changedPaths } from './changed-paths.ts';
import { dataOf, FORMER_IMAGE, InstallCluster } from './cluster.ts';

const PAGE = 'fresh';
const IMAGE = 'registry.example.com/pointsman:0.1.0';
const MODES = ['nftables', 'ebpf', 'iptables', 'ipvs', 'userspace'];
const CHART = 'helm template pointsman deploy/chart --namespace kube-system --set apiServer=https://192.0.2.10:6443';
const COMPONENTS = '../deploy/kustomize/components';
const MONITORED = '--set monitoring.metricsBindAddress=0.0.0.0:10249 --set monitoring.podMonitor=true';

describe('objects for a cluster without a kube-proxy', () => {
  let cluster: InstallCluster;

  before(async () => {
    cluster = await InstallCluster.start();
    await cluster.runPage(PAGE, 'Install where there is no kube-proxy');
  });

  after(() => cluster?.close());

  test('INST-5 the overlay and the chart are the same objects in every mode', async () => {
    for (const mode of MODES) {
      const overlay = objectsIn(await cluster.shell.run(`kubectl kustomize deploy/kustomize/overlays/${mode}`));
      const chart = objectsIn(await cluster.shell.run(`${CHART} --set mode=${mode} --set existingConfigMap=pointsman`));
      assert.deepEqual([...chart.keys()], ['ClusterRoleBinding', 'DaemonSet', 'ServiceAccount']);
      assert.deepEqual(changedPaths(Object.fromEntries(overlay), Object.fromEntries(chart)), [], mode);
    }
  });

  test('INST-5 the monitoring objects of kustomize and of the chart are the same', async () => {
    const overlay = objectsIn(await cluster.shell.run('kubectl kustomize deploy/monitoring'));
    const flags = `${MONITORED} --set monitoring.rules=true --set monitoring.dashboard=true`;
    const all = await cluster.shell.run(`${CHART} ${flags} --set existingConfigMap=pointsman`);
    const chart = objectsIn(all);
    for (const [kind, object] of overlay) assert.deepEqual(chart.get(kind), object, kind);
    assert.deepEqual([...overlay.keys()], ['ConfigMap', 'PodMonitor', 'PrometheusRule']);
  });

  test('INST-5 the component of kustomize and the chart report what is programmed with the same objects', async () => {
    const overlay = await withComponent('nftables', 'report-programmed');
    const flags = '--set reportProgrammed.enabled=true --set existingConfigMap=pointsman';
    const chart = objectsIn(await cluster.shell.run(`${CHART} ${flags}`));
    const added = ['Namespace', 'Role', 'RoleBinding'];
    assert.deepEqual([...chart.keys()], ['ClusterRoleBinding', 'DaemonSet', ...added, 'ServiceAccount']);
    assert.deepEqual(changedPaths(Object.fromEntries(overlay), Object.fromEntries(chart)), []);
    assert.match(JSON.stringify(chart.get('DaemonSet')), /"--report-programmed"/);
    const slow = await cluster.shell.run(`${CHART} ${flags} --set reportProgrammed.interval=30s`);
    assert.match(slow, /- --report-programmed-interval=30s$/m);
  });

  test('INST-5 the component of kustomize and the chart give the same rights to end sockets, in every mode', async () => {
    for (const mode of MODES) {
      const overlay = await withComponent(mode, 'end-sockets');
      const flags = `--set mode=${mode} --set endSockets=true --set existingConfigMap=pointsman`;
      const chart = objectsIn(await cluster.shell.run(`${CHART} ${flags}`));
      assert.deepEqual(changedPaths(Object.fromEntries(overlay), Object.fromEntries(chart)), [], mode);
      assert.match(JSON.stringify(chart.get('DaemonSet')), /"SYS_ADMIN".*"mountPath":"\/run\/netns"/);
    }
  });

  test('INST-6 the algorithm and the counters of Services become flags', async () => {
    const text = await cluster.shell.run(
      `${CHART} --set defaultBalance=round-robin --set monitoring.countConnections=true`,
    );
    const flags = [...text.matchAll(/- (--default-balance\S*|--count-connections)$/gm)].map(([, flag = '']) => flag);
    assert.deepEqual(flags, ['--default-balance=round-robin', '--count-connections']);
    await cluster.shell.run(`kube-proxy ${flags.join(' ')} --write-config-to written`);
    assert.doesNotMatch(await cluster.shell.run(CHART), /--default-balance|--count-connections|SYS_ADMIN/);
  });

  async function withComponent(mode: string, component: string): Promise<ReadonlyMap<string, unknown>> {
    const name = `${mode}-${component}`;
    const folder = join(cluster.shell.folder, name);
    mkdirSync(folder);
    const parts = {
      resources: [`../deploy/kustomize/overlays/${mode}`],
      components: [`${COMPONENTS}/${component}`],
    };
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(parts));
    return objectsIn(await cluster.shell.run(`kubectl kustomize ${name}`));
  }

  test('INST-5 Helm renders the same objects from the chart of a release', async () => {
    const folder = join(cluster.shell.folder, 'release');
    execFileSync('node', ['scripts/release.mjs', '--only', 'chart', '--output', folder]);
    const flags = `${MONITORED} --set monitoring.rules=true --set monitoring.dashboard=true`;
    const fromFolder = await cluster.shell.run(`${CHART} ${flags}`);
    const fromRelease = await cluster.shell.run(`${CHART.replace('deploy/chart', 'release/*.tgz')} ${flags}`);
    assert.equal(fromRelease, fromFolder);
  });

  test('INST-6 the chart refuses values that cannot work, and names them', async () => {
    const refused = async (flags: string, reason: RegExp) => {
      const { status, stderr } = await cluster.shell.try(`helm template pointsman deploy/chart ${flags}`);
      assert.equal(status, 1, flags);
      assert.match(stderr, reason);
    };
    await refused('', /apiServer is missing: give the URL of the API server, or existingConfigMap/);
    await refused('--set apiServer=192.0.2.10', /\/apiServer/);
    await refused('--set apiServer=https://a --set mode=fast', /\/mode': value must be one of 'nftables', 'ebpf'/);
    await refused('--set apiServer=https://a --set ebpfSockets=pods', /\/ebpfSockets/);
    await refused('--set apiServer=https://a --set defaultBalance=fastest', /\/defaultBalance/);
    await refused('--set apiServer=https://a --set clusterCidr=10.0.0.0/8', /clusterCidr/);
    await refused('--set apiServer=https://a --set clusterCIDR=10.0.0.0', /\/clusterCIDR/);
    const monitored = '--set apiServer=https://a --set monitoring.podMonitor=true';
    const served = '--set apiServer=https://a --set page.bindAddress=0.0.0.0:10280';
    await refused(served, /page\.secret must name a Secret with tls\.crt, tls\.key and token/);
    await refused(`${served} --set page.secret=page --set 'page.allow={write}'`, /\/page\/allow\/0/);
    await refused(monitored, /monitoring\.podMonitor needs a monitoring\.metricsBindAddress that Prometheus reaches/);
  });

  test('INST-6 helm lint accepts the chart', async () => {
    const output = await cluster.shell.run('helm lint --strict deploy/chart --set apiServer=https://192.0.2.10:6443');
    assert.match(output, /1 chart\(s\) linted, 0 chart\(s\) failed/);
  });

  test('INST-6 PAGE-2 the values of the page become flags and files', async () => {
    const values = `--set page.bindAddress=0.0.0.0:10280 --set page.secret=page-files --set 'page.allow={probe,trace}'`;
    const paths = async (flags: string) => {
      const [plain, changed] = await Promise.all(['', flags].map(more => cluster.shell.run(`${CHART} ${more}`)));
      return changedPaths(objectsIn(plain ?? '').get('DaemonSet'), objectsIn(changed ?? '').get('DaemonSet'));
    };
    assert.deepEqual(await paths('--set page.bindAddress='), []);
    const text = await cluster.shell.run(`${CHART} ${values}`);
    assert.notDeepEqual(await paths(values), []);
    const flags = [...text.matchAll(/- (--page-\S+)/g)].map(([, flag = '']) => flag);
    assert.deepEqual(flags, [
      '--page-bind-address=0.0.0.0:10280',
      '--page-tls-cert-file=/etc/pointsman/page/tls.crt',
      '--page-tls-key-file=/etc/pointsman/page/tls.key',
      '--page-token-file=/etc/pointsman/page/token',
      '--page-allow=probe,trace',
    ]);
    assert.match(text, /secretName: "page-files"/);
    await cluster.shell.run(`kube-proxy ${flags.join(' ')} --write-config-to written`);
  });

  test('INST-13 in ebpf mode the container has the file systems of the host', async () => {
    const text = await cluster.shell.run(`${CHART} --set mode=ebpf`);
    const spec = parseAllDocuments(text)
      .map(document => document.toJS())
      .find(object => object?.kind === 'DaemonSet').spec.template.spec;
    const mounts = spec.containers[0].volumeMounts as { readonly mountPath: string }[];
    assert.deepEqual(
      mounts.filter(({ mountPath }) => mountPath.startsWith('/sys/')),
      [
        { name: 'bpf', mountPath: '/sys/fs/bpf', mountPropagation: 'HostToContainer' },
        { name: 'control-groups', mountPath: '/sys/fs/cgroup', readOnly: true },
      ],
    );
    assert.deepEqual(spec.containers[0].securityContext.capabilities.add, ['BPF', 'NET_ADMIN', 'PERFMON']);
  });

  test('INST-13 the scope of sockets becomes a flag, in ebpf mode only', async () => {
    const flags = async (mode: string, scope: string) =>
      /--ebpf-sockets\S+/.exec(await cluster.shell.run(`${CHART} --set mode=${mode} --set ebpfSockets=${scope}`))?.[0];
    assert.deepEqual(
      [await flags('ebpf', 'all'), await flags('ebpf', 'node'), await flags('nftables', 'node')],
      [undefined, '--ebpf-sockets=node', undefined],
    );
  });

  test('INST-6 the configuration of the chart has the values, and fields of `configuration` win', async () => {
    const flags = '--set mode=iptables --set clusterCIDR=10.244.0.0/16\\\\,fd00::/48 --set configuration.mode=nftables';
    const configMap = objectsIn(await cluster.shell.run(`${CHART} ${flags}`)).get('ConfigMap');
    const { 'config.conf': configuration = '', 'kubeconfig.conf': kubeconfig = '' } = dataOf(configMap);
    assert.deepEqual(parse(configuration), {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'nftables',
      clusterCIDR: '10.244.0.0/16,fd00::/48',
      clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
      metricsBindAddress: '127.0.0.1:10249',
    });
    assert.equal(parse(kubeconfig).clusters[0].cluster.server, 'https://192.0.2.10:6443');
  });

  test('INST-6 the program accepts the configuration of the chart in every mode, and that of the page', async () => {
    const accepts = (file: string) => `kube-proxy --config ${file} --write-config-to written`;
    for (const mode of MODES) {
      const configMap = objectsIn(await cluster.shell.run(`${CHART} --set mode=${mode}`)).get('ConfigMap');
      writeFileSync(join(cluster.shell.folder, 'config.conf'), dataOf(configMap)['config.conf'] ?? '');
      await cluster.shell.run(accepts('config.conf'));
      assert.equal(parse(await cluster.shell.run('cat written')).mode, mode);
    }
    const [write = ''] = cluster.blocks(PAGE, 'With kustomize');
    await cluster.shell.run(write);
    await cluster.shell.run(accepts('my-cluster/config.conf'));
  });

  test('INST-7 in no mode is the proxy privileged, and a pod security warning names only what the mode needs', async () => {
    const namespace = 'kubectl create namespace strict; kubectl label namespace strict';
    await cluster.shell.run(`${namespace} pod-security.kubernetes.io/warn=baseline`);
    for (const [mode, init] of [
      ['nftables', false],
      ['ebpf', false],
      ['iptables', true],
      ['ipvs', true],
      ['userspace', false],
    ] as const) {
      const flags = `--namespace strict --set apiServer=https://a --set mode=${mode}`;
      const script = `helm template pointsman deploy/chart ${flags} | kubectl apply --dry-run=server -f -`;
      const { stderr } = await cluster.shell.try(script);
      const [warning = ''] = /would violate PodSecurity.*/.exec(stderr) ?? [];
      const more: Partial<Record<string, string>> = {
        ebpf: '"BPF", "NET_ADMIN", "PERFMON"',
        ipvs: '"NET_ADMIN", "NET_RAW"',
      };
      const added = more[mode] ?? '"NET_ADMIN"';
      assert.ok(warning.includes(`"kube-proxy" must not include ${added} in`), warning);
      assert.equal(warning.includes('privileged (container "init"'), init, warning);
      assert.equal(warning.includes('privileged (container "kube-proxy"'), false, warning);
      assert.equal(warning.includes('hostPath volumes'), mode !== 'nftables', warning);
      assert.equal(warning.includes('forbidden AppArmor profile'), mode === 'ebpf', warning);
    }
  });

  test('INST-8 the page installs with Helm, twice, changes the mode, and removes all objects', async () => {
    const [install = '', change = '', remove = ''] = cluster.blocks(PAGE, 'With Helm');
    await cluster.shell.run(install);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
    const former = await installed();
    await cluster.shell.run(install);
    assert.deepEqual(changedPaths(former, await installed()), []);

    await cluster.shell.run(change);
    const { 'config.conf': configuration = '' } = dataOf((await installed()).configMap);
    assert.equal(parse(configuration).mode, 'iptables');
    assert.deepEqual(parse(configuration).nodePortAddresses, ['primary']);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
    await cluster.shell.run(remove);
    assert.deepEqual(await installed(), NOTHING);
  });

  test('INST-8 Helm installs with client-side apply, too', async () => {
    const [install = '', , remove = ''] = cluster.blocks(PAGE, 'With Helm');
    await cluster.shell.run(install.replace('helm upgrade', 'helm upgrade --server-side=false'));
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
    await cluster.shell.run(remove);
  });

  test('INST-8 the page installs with kustomize, with both kinds of apply, and removes all objects', async () => {
    const [write = '', apply = '', remove = ''] = cluster.blocks(PAGE, 'With kustomize');
    await cluster.shell.run(write);
    await cluster.shell.run(apply);
    assert.deepEqual(await cluster.images(), { 'node-a': [IMAGE], 'node-b': [IMAGE] });
    const former = await installed();
    await cluster.shell.run(apply);
    assert.deepEqual(changedPaths(former, await installed()), []);
    await cluster.shell.run(remove);
    assert.deepEqual(await installed(), NOTHING);
  });

  test('INST-9 beside the objects of kubeadm, both ways change none of them', async () => {
    await cluster.installWithKubeadm();
    const former = await kubeadmObjects();
    const [install = '', , uninstall = ''] = cluster.blocks(PAGE, 'With Helm');
    const [, apply = '', remove = ''] = cluster.blocks(PAGE, 'With kustomize');
    for (const command of [install, uninstall, apply, remove]) await cluster.shell.run(command);
    assert.deepEqual(changedPaths(former, await kubeadmObjects()), []);
    assert.deepEqual(await cluster.images(), { 'node-a': [FORMER_IMAGE], 'node-b': [FORMER_IMAGE] });
  });

  test('INST-4 these tests ran every block of the page', () => cluster.assertRanAll(PAGE));

  async function installed() {
    return {
      daemonSet: await cluster.read('DaemonSet', 'pointsman'),
      configMap: await cluster.read('ConfigMap', 'pointsman'),
      serviceAccount: await cluster.read('ServiceAccount', 'pointsman'),
      binding: await cluster.read('ClusterRoleBinding', 'pointsman:node-proxier'),
    };
  }

  async function kubeadmObjects() {
    return {
      daemonSet: await cluster.read('DaemonSet', 'kube-proxy'),
      configMap: await cluster.read('ConfigMap', 'kube-proxy'),
      serviceAccount: await cluster.read('ServiceAccount', 'kube-proxy'),
      binding: await cluster.read('ClusterRoleBinding', 'kubeadm:node-proxier'),
    };
  }
});

const NOTHING = { daemonSet: undefined, configMap: undefined, serviceAccount: undefined, binding: undefined };

/** The objects of a YAML text by their kind, sorted. The tag of the image is left out: only the chart has one. */
function objectsIn(text: string): ReadonlyMap<string, KubeObject> {
  const objects: KubeObject[] = parseAllDocuments(text.replaceAll(/(image: pointsman):\S+/g, '$1'))
    .map(document => document.toJS())
    .filter(object => object !== null);
  return new Map(objects.map(object => [object.kind, object] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}
