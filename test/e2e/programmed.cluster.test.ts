import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { decodeProgrammedLease, reachesVersion } from '../../src/api/index.ts';
import type { WaitReport } from '../../src/cli/wait/report.ts';
import { Cluster, EchoServer, probe } from '../../src/demo/playground/index.ts';
import { askProxy, type ProgrammedAnswer } from '../../src/inspect/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import type { KubeObject } from '../control-plane/objects.ts';
import { Program } from '../control-plane/program.ts';
import { proxyConfigurationText } from '../control-plane/proxy-configuration.ts';
import { service, slice } from './objects.ts';
import { ALL_SYNCED } from './stage.ts';

const PROGRAM = [process.execPath, 'build/kube-proxy.mjs'];
const COMPONENT = 'deploy/kustomize/components/report-programmed';
const POD = '10.244.2.10' as Ip;
const NODES = { 'node-a': '192.168.0.2', 'node-b': '192.168.0.3' } as const;
type NodeName = keyof typeof NODES;

function node(name: string, address: string, isReady = true): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      addresses: [{ type: 'InternalIP', address }],
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  };
}

function lease(name: string): KubeObject {
  const metadata = { name: `pointsman-${name}`, namespace: 'pointsman-nodes' };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
}

function componentObject(file: string): KubeObject {
  return parse(readFileSync(`${COMPONENT}/${file}`, 'utf8'));
}

interface Waited {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe('what is programmed, on two nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'programmed-'));
  const cluster = Cluster.create();
  const namespaces: Readonly<Record<NodeName, NetworkNamespace>> = {
    'node-a': cluster.node,
    'node-b': cluster.host('other-node'),
  };
  const programs: Program[] = [];
  const proxies = new Map<NodeName, Program>();
  let controlPlane: ControlPlane;
  let pod: EchoServer | undefined;

  function socketOf(name: NodeName): string {
    return join(folder, `${name}.sock`);
  }

  /** A proxy that writes at most once a second, so that a change often waits for its sync. */
  function startProxy(name: NodeName): Program {
    const overrides = { hostnameOverride: name, nftables: { minSyncPeriod: '1s' } };
    const path = join(folder, `${name}.yaml`);
    writeFileSync(path, proxyConfigurationText(controlPlane.kubeconfig('proxy'), overrides));
    const report = ['--report-programmed', '--report-programmed-interval=1s'];
    const args = ['--config', path, '--inspect-socket', socketOf(name), ...report];
    const program = new Program(name, [...PROGRAM, ...args], { namespace: namespaces[name] });
    programs.push(program);
    proxies.set(name, program);
    return program;
  }

  function wait(namespace: NetworkNamespace, ...args: string[]): Promise<Waited> {
    const child = namespace.run(() => spawn(PROGRAM[0] ?? '', [...PROGRAM.slice(1), 'wait', ...args]));
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text;
    });
    return new Promise(resolve => child.once('close', status => resolve({ status, stdout, stderr })));
  }

  function waitForAll(name: string, ...args: string[]): Promise<Waited> {
    const kubeconfig = controlPlane.kubeconfig('admin');
    return wait(cluster.node, name, '--all-nodes', '--kubeconfig', kubeconfig, ...args);
  }

  async function answersOn(name: NodeName, ip: string): Promise<string> {
    const { answers, failures } = await probe(namespaces[name], ip as Ip, 80, 'TCP', { tries: 1, timeoutMs: 2000 });
    return [...answers.keys()].map(answer => answer.split(' ')[0]).join() || [...failures].join();
  }

  before(async () => {
    controlPlane = await ControlPlane.start({ namespace: cluster.node });
    for (const [name, address] of Object.entries(NODES)) await controlPlane.apply(node(name, address));
    await controlPlane.apply(node('node-down', '192.168.0.9', false));
    pod = await EchoServer.start(cluster.addPod(POD), POD, 8080, 'TCP');
  });

  after(async () => {
    await Promise.all(programs.map(program => program.stop('SIGKILL')));
    await pod?.close();
    await controlPlane?.close();
    cluster.close();
    rmSync(folder, { recursive: true });
  });

  test('PROGRAMMED-8 without the right to write Leases the proxy logs one warning with the advice, and works', async () => {
    for (const name of ['node-a', 'node-b'] as const) await startProxy(name).until(ALL_SYNCED);
    const [proxy] = programs;
    await proxy?.until(/The Lease with the programmed versions was not written.*let the proxy's user create and patch/);
    await controlPlane.apply(componentObject('namespace.yaml'));
    await controlPlane.apply(componentObject('role.yaml'));
    const subjects = [{ kind: 'User', name: 'system:kube-proxy' }];
    await controlPlane.apply({ ...componentObject('role-binding.yaml'), subjects });
    await proxy?.until('The Lease with the programmed versions is written again');
    // The text of the server changes once: before there is a namespace, it is another one.
    const warnings = proxy?.lines.filter(line => line.includes('was not written')) ?? [];
    assert.ok(warnings.length <= 2, warnings.join('\n'));
  });

  test('PROGRAMMED-6 the Lease belongs to the Node, and has the versions', async () => {
    await controlPlane.apply(service('first', '10.96.7.1'));
    const { status, stdout, stderr } = await waitForAll('first', '-o', 'json');
    assert.equal(status, 0, stdout + stderr);
    const found = await controlPlane.read(lease('node-a'));
    const owner = await controlPlane.read(node('node-a', ''));
    const { versions }: WaitReport = JSON.parse(stdout);
    assert.deepEqual(found?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: owner?.metadata.uid },
    ]);
    const reached = decodeProgrammedLease(found)?.services;
    assert.ok(reachesVersion(reached, versions?.service ?? ''), `${reached} ${versions?.service}`);
  });

  test('PROGRAMMED-14 when a wait for all nodes has ended, connections from every node work at once', async () => {
    for (let round = 0; round < 4; round++) {
      const ip = `10.96.8.${round + 1}`;
      await controlPlane.apply(service(`round${round}`, ip));
      await controlPlane.apply(slice(`round${round}-1`, [POD]));
      const { status, stdout, stderr } = await waitForAll(`round${round}`);
      assert.equal(status, 0, stdout + stderr);
      assert.equal(stdout, `✓ default/round${round} is programmed on all 2 nodes\n`);
      for (const name of ['node-a', 'node-b'] as const) assert.equal(await answersOn(name, ip), POD, name);
    }
  });

  test('PROGRAMMED-14 when a wait on a node has ended, connections from this node work at once', async () => {
    const kubeconfig = controlPlane.kubeconfig('admin');
    for (let round = 0; round < 4; round++) {
      const ip = `10.96.9.${round + 1}`;
      await controlPlane.apply(service(`local${round}`, ip));
      await controlPlane.apply(slice(`local${round}-1`, [POD]));
      // Without an API server the wait is for what the proxy has received.
      const from = round % 2 === 0 ? ['--kubeconfig', kubeconfig] : [];
      const socket = ['--inspect-socket', socketOf('node-b')];
      if (round % 2 === 1) await proxies.get('node-b')?.waitFor('receive it', () => knows(`local${round}-1`), 10_000);
      const { status, stdout, stderr } = await wait(namespaces['node-b'], `local${round}`, ...socket, ...from);
      assert.equal(status, 0, stdout + stderr);
      assert.equal(await answersOn('node-b', ip), POD);
    }
  });

  /** Whether the proxy of node-b has received the newest version of the EndpointSlice. */
  async function knows(name: string): Promise<boolean> {
    const version = (await controlPlane.read(slice(name, [POD])))?.metadata.resourceVersion;
    const { received } = (await askProxy(socketOf('node-b'), '/v1/programmed')) as ProgrammedAnswer;
    return reachesVersion(received.endpointSlices, String(version));
  }

  test('PROGRAMMED-11 PROGRAMMED-12 a node whose proxy has stopped is named when the time is over', async () => {
    await proxies.get('node-b')?.stop();
    await controlPlane.apply(service('late', '10.96.7.2'));
    const { status, stdout, stderr } = await waitForAll('late', '--timeout', '3s', '-o', 'json');
    assert.equal(status, 1, stdout);
    assert.match(stderr, /^default\/late is programmed on [01] of 2 nodes; waiting for .*node-b/);
    const { outcome, nodes }: WaitReport = JSON.parse(stdout);
    assert.equal(outcome, 'timeout');
    assert.deepEqual([nodes.all, nodes.programmed], [2, 1]);
    assert.deepEqual(
      nodes.missing.map(({ node: name, cause }) => [name, cause]),
      [['node-b', 'behind']],
    );
    const unknown = await waitForAll('none');
    assert.equal(unknown.status, 2);
    assert.match(unknown.stderr, /there is no Service "default\/none"/);
  });
});
