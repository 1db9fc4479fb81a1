import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { writeSysctl } from '../../src/kernel/sysctl.ts';
import { NODE } from '../control-plane/node-object.ts';
import type { KubeObject } from '../control-plane/objects.ts';
import type { Program } from '../control-plane/program.ts';
import { generation, nft } from '../support/nftables-mode.ts';
import { service } from './objects.ts';
import { ALL_SYNCED, Stage } from './stage.ts';

const ENDS_WITHIN_MS = 5000;
const SERVICE = service('web', '10.96.6.1');
/** The ports of a proxy that runs beside another one. */
const OTHER_PORTS = { healthzBindAddress: '127.0.0.1:20256', metricsBindAddress: '127.0.0.1:20249' };
const FOLLOWED_AGAIN = '"The resource is watched again" where="/api/v1/nodes"';

describe('from the command to rules in the kernel', () => {
  let stage: Stage;
  /** A proxy whose Node is never created. It waits for half a minute while other tests run. */
  let withoutNode: Program;

  before(async () => {
    stage = await Stage.open({ nodeObject: null });
    await stage.cluster.apply(SERVICE);
  });

  after(() => stage?.close());

  test('E2E-22 the proxy waits for the API server and then for the Node, and continues at once', async () => {
    await stage.cluster.stopApiserver('SIGKILL');
    const proxy = stage.start();
    await proxy.until('the API server 192.168.0.2:6443 refused the connection');
    assert.equal((await stage.node.health('/livez')).status, 200);
    assert.equal((await stage.node.health('/healthz')).status, 503);
    assert.match((await stage.node.health('/readyz')).text, /\[-\]watch \/api\/v1\/nodes failed/);
    await stage.cluster.startApiserver();
    await proxy.until(FOLLOWED_AGAIN);
    await proxy.until('"Waiting for the Node to have addresses" node="node-a"');
    assert.equal(stage.node.hasTables(), false);
    withoutNode = stage.cluster.startProxy({ hostnameOverride: 'node-missing', ...OTHER_PORTS });
    await stage.cluster.apply(NODE);
    await proxy.until('"Successfully retrieved NodeIPs" NodeIPs=["192.168.0.2","fd00:192:168::2"]');
    await proxy.until('"kube-proxy running in dual-stack mode" primary ipFamily="IPv4"');
    await proxy.until(ALL_SYNCED);
    assert.ok(stage.node.knows('10.96.6.1'));
    assert.equal((await stage.node.health('/healthz')).status, 200);
    assert.equal((await stage.node.health('/readyz')).status, 200);
  });

  test('E2E-23 a second proxy waits; SIGTERM and SIGINT end a proxy with status 0 within seconds; the next one adopts the rules unchanged', async () => {
    const first = stage.proxy;
    const second = stage.start(OTHER_PORTS);
    await second.until('Another Pointsman kube-proxy runs in this network namespace; waiting until it ends');
    const before = generation(stage.cluster.namespace);
    assert.deepEqual(await endOf(first, 'SIGTERM'), { status: 0, signal: null });
    await second.until(ALL_SYNCED);
    assert.equal(generation(stage.cluster.namespace), before);
    assert.deepEqual(await endOf(second, 'SIGINT'), { status: 0, signal: null });
    assert.ok(stage.node.knows('10.96.6.1'));
  });

  test('E2E-24 a proxy that waits for the Node or the API server ends as fast', async () => {
    const waiting = stage.start({ hostnameOverride: 'node-z' });
    await waiting.until('Waiting for the Node');
    assert.deepEqual(await endOf(waiting, 'SIGTERM'), { status: 0, signal: null });
    const alone = stage.start({}, { args: ['--master=https://192.168.0.2:1'] });
    await alone.until('refused the connection');
    assert.deepEqual(await endOf(alone, 'SIGINT'), { status: 0, signal: null });
  });

  test('E2E-25 --init-only ends with status 0 and writes no rules', async () => {
    nft(stage.cluster.namespace, 'flush', 'ruleset');
    const proxy = stage.start({}, { args: ['--init-only'] });
    assert.deepEqual(await proxy.exit, { status: 0, signal: null });
    assert.equal(stage.node.hasTables(), false);
  });

  test('E2E-26 START-7 in mode NodeCIDR the proxy waits for pod CIDRs, and ends with status 1 when the Node has others', async () => {
    const configuration = { hostnameOverride: 'node-b', detectLocalMode: 'NodeCIDR' };
    await stage.cluster.apply(nodeB());
    const proxy = stage.start(configuration);
    await proxy.until('"Waiting for the Node to have PodCIDRs" node="node-b"');
    await stage.cluster.apply(nodeB('10.244.9.0/24'));
    await proxy.until(ALL_SYNCED);
    assert.match(nft(stage.cluster.namespace, 'list', 'ruleset'), /ip saddr != 10\.244\.9\.0\/24/);
    await stage.cluster.delete(nodeB());
    await stage.cluster.apply(nodeB('10.244.10.0/24'));
    assert.deepEqual(await proxy.exit, { status: 1, signal: null });
    assert.match(proxy.lines.join('\n'), /"The PodCIDRs of the Node changed, which needs a restart" node="node-b"/);
    assert.match(proxy.lines.join('\n'), /"command failed" err="the PodCIDRs of node \\"node-b\\" changed"/);
  });

  test('E2E-27 START-3 a new ServiceCIDR reaches the rules', async () => {
    const range: KubeObject = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'more' },
      spec: { cidrs: ['10.200.0.0/16', 'fd00:10:200::/112'] },
    };
    await stage.run();
    const { node } = stage;
    assert.deepEqual(node.serviceCIDRs('IPv4'), ['10.96.0.0/12']);
    await stage.cluster.apply(range);
    await stage.until('have the range', () => node.serviceCIDRs('IPv4').includes('10.200.0.0/16'));
    await stage.until('have the other', () => node.serviceCIDRs('IPv6').includes('fd00:10:200::/112'));
    await stage.proxy.stop();
  });

  test('E2E-28 without its Node the proxy serves, but its health check reports that the node is not eligible for traffic', async () => {
    nft(stage.cluster.namespace, 'flush', 'ruleset');
    await withoutNode.until('"Failed to retrieve NodeIPs" err="node \\"node-missing\\" not found"', {
      timeoutMs: 40_000,
    });
    await withoutNode.until(
      "Can't determine this node's IP, assuming loopback; if this is incorrect, set --bind-address",
    );
    await withoutNode.until(ALL_SYNCED);
    assert.ok(stage.node.knows('10.96.6.1'));
    const { status, text } = await stage.node.get(20_256, '/healthz');
    assert.equal(status, 503);
    assert.match(text, /"nodeEligible":false,"healthy":true/);
    assert.equal((await stage.node.get(20_256, '/livez')).status, 200);
    await withoutNode.stop();
  });

  test('E2E-29 on a machine without IPv6 the proxy logs it and serves IPv4', async () => {
    const { namespace } = stage.cluster;
    nft(namespace, 'flush', 'ruleset');
    writeSysctl('net/ipv6/conf/all/disable_ipv6', 1, namespace);
    const proxy = stage.start();
    await proxy.until('"kube-proxy running in single-stack mode" ipFamily="IPv4"');
    await proxy.until('"Synced all service ports" ipFamily="IPv4"');
    assert.ok(stage.node.knows('10.96.6.1'));
    assert.equal(nft(namespace, 'list', 'tables'), 'table ip kube-proxy\n');
    assert.equal((await stage.node.health('/healthz')).status, 200);
  });
});

async function endOf(program: Program, signal: NodeJS.Signals) {
  const began = performance.now();
  const exit = await program.stop(signal);
  assert.ok(performance.now() - began < ENDS_WITHIN_MS);
  return exit;
}

function nodeB(podCIDR?: string): KubeObject {
  const spec = podCIDR === undefined ? {} : { podCIDRs: [podCIDR], podCIDR };
  return { ...NODE, metadata: { name: 'node-b' }, spec };
}
