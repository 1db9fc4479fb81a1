import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { EchoServer } from '../../src/demo/playground/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { NODE_IP, NODE_IP6 } from '../support/namespaces.ts';
import { nft } from '../support/nftables-mode.ts';
import { type EventObject, eventsIn } from './cluster-events.ts';
import { dualStackService, service, slice } from './objects.ts';
import { Stage } from './stage.ts';

const POD_A = '10.244.1.10';
const POD_B = '10.244.1.11';
const POD6_A = 'fd00:10:244:1::10';

describe('Services from an API server', () => {
  let stage: Stage;

  before(async () => {
    stage = await Stage.open();
    for (const pod of [POD_A, POD_B, POD6_A]) await stage.node.addPod(pod);
    await stage.run();
  });

  after(() => stage?.close());

  test('E2E-1 a Service and its EndpointSlice reach the kernel, and connections reach its pods until both are deleted', async () => {
    const { cluster, node } = stage;
    const [web, web6] = [service('web', '10.96.1.1'), service('web6', 'fd00:10:96::1:1', { ipFamilies: ['IPv6'] })];
    const [slice4, slice6] = [slice('web-1', [POD_A]), slice('web6-1', [POD6_A])];
    for (const object of [web, slice4, web6, slice6]) await cluster.apply(object);
    await stage.untilEndpoints('10.96.1.1', [POD_A]);
    await stage.untilEndpoints('fd00:10:96::1:1', [POD6_A]);
    assert.equal(await node.ask('10.96.1.1'), POD_A);
    assert.equal(await node.ask('fd00:10:96::1:1'), POD6_A);

    await cluster.delete(slice4);
    await stage.untilEndpoints('10.96.1.1', []);
    assert.equal(await node.ask('10.96.1.1'), 'refused');
    for (const object of [web, web6, slice6]) await cluster.delete(object);
    await stage.until('forget them', () => !node.knows('10.96.1.1') && !node.knows('fd00:10:96::1:1'));
    await stage.untilEndpoints('fd00:10:96::1:1', []);
  });

  test('E2E-2 pods are replaced one after another without a failed connection', async () => {
    const { cluster, node } = stage;
    const ip = '10.96.1.2';
    await cluster.apply(service('rolling', ip));
    await cluster.apply(slice('rolling-1', [POD_A]));
    await stage.untilEndpoints(ip, [POD_A]);
    const answers: string[] = [];
    const client = new AbortController();
    const asked = (async () => {
      while (!client.signal.aborted) {
        answers.push(await node.ask(ip));
        await delay(2);
      }
    })();

    await cluster.apply(slice('rolling-1', [POD_A, POD_B]));
    await stage.untilEndpoints(ip, [POD_A, POD_B]);
    await delay(200);
    const leaving = { ip: POD_A, conditions: { ready: false, serving: true, terminating: true } };
    await cluster.apply(slice('rolling-1', [leaving, POD_B]));
    await stage.untilEndpoints(ip, [POD_B]);
    // One connection may still be under way.
    const replaced = answers.length + 1;
    await delay(200);
    await cluster.apply(slice('rolling-1', [POD_B]));
    await delay(200);
    client.abort();
    await asked;
    assert.deepEqual([...new Set(answers)].sort(), [POD_A, POD_B]);
    assert.deepEqual([...new Set(answers.slice(replaced))], [POD_B]);
  });

  test('E2E-3 a dual-stack Service answers at both cluster IPs, and its node port at both addresses of the node', async () => {
    const { cluster, node } = stage;
    const ips = ['10.96.1.3', 'fd00:10:96::1:3'] as const;
    const ports = [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30080 }];
    await cluster.apply(dualStackService('dual', ips, { type: 'NodePort', ports }));
    await cluster.apply(slice('dual-1', [POD_A]));
    await cluster.apply(slice('dual-2', [POD6_A]));
    await stage.untilEndpoints(ips[0], [POD_A]);
    await stage.untilEndpoints(ips[1], [POD6_A]);
    assert.equal(await node.ask(ips[0]), POD_A);
    assert.equal(await node.ask(ips[1]), POD6_A);
    assert.equal(await node.ask(NODE_IP, 30080), POD_A);
    assert.equal(await node.ask(NODE_IP6, 30080), POD6_A);
  });

  test('E2E-4 metrics show how long a change of a pod took to reach the kernel, and when syncs were queued and done', async () => {
    const { cluster, node } = stage;
    const count = async () => {
      const samples = await node.metric('kubeproxy_network_programming_duration_seconds');
      return samples.find(({ name, labels }) => name.endsWith('_count') && labels.ip_family === 'IPv4')?.value ?? 0;
    };
    const before = await count();
    const began = Date.now() / 1000;
    await cluster.apply(service('timed', '10.96.1.4'));
    const trigger = { 'endpoints.kubernetes.io/last-change-trigger-time': new Date().toISOString() };
    await cluster.apply(slice('timed-1', [POD_A], trigger));
    await stage.untilEndpoints('10.96.1.4', [POD_A]);
    await stage.until('measure it', async () => (await count()) === before + 1);
    for (const name of ['last_timestamp_seconds', 'last_queued_timestamp_seconds']) {
      const samples = await node.metric(`kubeproxy_sync_proxy_rules_${name}`);
      const time = samples.find(({ labels }) => labels.ip_family === 'IPv4')?.value ?? 0;
      assert.ok(time >= Math.floor(began) && time <= Date.now() / 1000, `${name} ${time}`);
    }
  });

  test('E2E-5 the start is an Event of the node with the same fields as in kube-proxy', async () => {
    const started = await untilEvent('default', ({ reason }) => reason === 'Starting');
    assert.match(started.metadata.name, /^node-a\.[0-9a-f]+$/);
    const { type, action, regarding, reportingController, reportingInstance, eventTime } = started;
    assert.deepEqual(
      { type, action, regarding, reportingController },
      {
        type: 'Normal',
        action: 'StartKubeProxy',
        regarding: { kind: 'Node', name: 'node-a', apiVersion: 'v1' },
        reportingController: 'kube-proxy',
      },
    );
    assert.match(reportingInstance, /^kube-proxy-./);
    assert.match(eventTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  test('E2E-6 a health check node port in use is an Event of the Service, and answers once it is free', async t => {
    const { cluster, node } = stage;
    const port = 32_111;
    const other = await EchoServer.start(cluster.namespace, '0.0.0.0' as Ip, port, 'TCP');
    t.after(() => other.close());
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: port };
    await cluster.apply(service('balanced', '10.96.1.6', spec));
    const failed = await untilEvent('default', ({ reason }) => reason === 'FailedToStartServiceHealthcheck');
    assert.deepEqual([failed.type, failed.action], ['Warning', 'Listen']);
    assert.equal(failed.regarding.kind, 'Service');
    assert.equal(failed.regarding.name, 'balanced');
    const { metadata } = (await cluster.read(service('balanced'))) ?? {};
    assert.equal(failed.regarding.uid, metadata?.uid);
    assert.match(
      failed.note,
      /^node node-a failed to start healthcheck "default\/balanced" on port 32111: listen tcp4 192\.168\.0\.2:32111: bind: address already in use$/,
    );
    await other.close();
    // The proxy retries the port with the next sync.
    await cluster.apply(slice('balanced-1', [POD_A]));
    const answer = () => node.get(port, '/', NODE_IP);
    await stage.until('answer there', async () => (await answer()).text.includes('"localEndpoints": 1'));
    assert.equal((await answer()).status, 200);
  });

  test('E2E-7 the proxy repairs rules that another program changed, and writes an Event of the node', async () => {
    const { cluster, node } = stage;
    await cluster.apply(service('drifting', '10.96.1.7'));
    await cluster.apply(slice('drifting-1', [POD_A]));
    await stage.untilEndpoints('10.96.1.7', [POD_A]);
    nft(cluster.namespace, 'flush', 'map', 'ip', 'kube-proxy', 'service-numbers');
    await stage.proxy.until('Repaired rules that another program changed');
    await stage.until('serve it again', async () => (await node.ask('10.96.1.7')) === POD_A);
    const { type, action, regarding, note } = await untilEvent('default', ({ reason }) => reason === 'DriftRepaired');
    assert.deepEqual([type, action, regarding.kind, regarding.name], ['Warning', 'Repair', 'Node', 'node-a']);
    assert.match(note, /^kube-proxy repaired its IPv4 rules, which another program had changed: /);
  });

  async function untilEvent(namespace: string, isWanted: (event: EventObject) => boolean): Promise<EventObject> {
    let found: EventObject | undefined;
    await stage.until('write the Event', async () => {
      found = (await eventsIn(stage.cluster, namespace)).find(isWanted);
      return found !== undefined;
    });
    assert.ok(found);
    return found;
  }
});
