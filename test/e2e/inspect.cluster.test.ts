import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { askProxy, type ProxyStatus } from '../../src/inspect/index.ts';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

const IP = '10.96.2.10';
const TIMEOUT_MS = 60_000;

test('INSPECT-10, INSPECT-16 a proxy in a cluster reports its watches, and explains objects of the API server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-inspect-'));
  const socket = join(folder, 'proxy.sock');
  const stage = await Stage.open();
  const status = async () => (await askProxy(socket, '/v1/status')) as ProxyStatus;
  try {
    const { cluster } = stage;
    await cluster.apply(service('web', IP));
    await cluster.apply(slice('web-1', ['10.244.1.20']));
    await stage.run({}, { args: ['--inspect-socket', socket] });
    const { source, watches, ready, families } = await status();
    assert.deepEqual([source, ready], ['cluster', true]);
    assert.deepEqual(
      watches.map(({ path, synced, problem }) => [path, synced, problem]),
      [
        '/api/v1/nodes',
        '/api/v1/services',
        '/apis/discovery.k8s.io/v1/endpointslices',
        '/apis/networking.k8s.io/v1/servicecidrs',
      ].map(path => [path, true, undefined]),
    );
    assert.ok(watches.every(({ silentSeconds }) => silentSeconds !== undefined));
    assert.ok(families.every(({ lastSync }) => lastSync !== undefined));
    const explanation = (await askProxy(socket, `/v1/explain?to=${IP}:80`)) as Record<string, unknown>;
    assert.deepEqual((explanation.target as Record<string, unknown>).service, 'default/web');

    await cluster.stopApiserver('SIGKILL');
    const hasProblem = async () => (await status()).watches.some(({ problem }) => problem !== undefined);
    await stage.until('report the problem of a watch', hasProblem, TIMEOUT_MS);
    const during = await status();
    assert.ok(during.ready, 'the proxy goes on with the objects that it has');
    await cluster.startApiserver();
    await stage.until('report that its watches are good again', async () => !(await hasProblem()), TIMEOUT_MS);
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true });
  }
});
