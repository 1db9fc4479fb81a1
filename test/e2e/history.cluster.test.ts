import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readProxyLines } from '../../src/inspect/index.ts';
import { service, slice } from './objects.ts';
import { Stage } from './stage.ts';

interface Entry {
  readonly kind: string;
  readonly object?: string;
  readonly change: string;
  readonly cause?: string;
  readonly state?: string;
  readonly time: string;
  readonly triggered?: string;
  readonly writtenMs?: number;
}

const IP = '10.96.2.9';
const TIMEOUT_MS = 60_000;

test('HISTORY-1, HISTORY-2, HISTORY-8 the history of a proxy in a cluster: objects, changes and an outage', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-history-'));
  const socket = join(folder, 'proxy.sock');
  const stage = await Stage.open();
  const entries = async (query = '') => {
    const rows: Entry[] = [];
    for await (const row of readProxyLines(socket, `/v1/history?${query}`)) rows.push(row as Entry);
    return rows.slice(1);
  };
  try {
    const { cluster } = stage;
    await cluster.apply(service('web', IP));
    await cluster.apply(slice('web-1', ['10.244.1.20']));
    await stage.run({}, { args: ['--inspect-socket', socket] });
    const listed = (await entries()).find(({ kind }) => kind === 'listed');
    assert.match(listed?.change ?? '', /^received \d+ Services?, \d+ EndpointSlices? at the start$/);
    assert.deepEqual(await entries('service=web'), [], 'the first objects have no entries of their own');

    const triggered = new Date().toISOString();
    const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': triggered };
    await cluster.apply(slice('web-1', ['10.244.1.20', '10.244.1.21'], annotations));
    await stage.untilEndpoints(IP, ['10.244.1.20', '10.244.1.21'], TIMEOUT_MS);
    const isWritten = async () => (await entries('service=web')).some(({ state }) => state === 'written');
    await stage.until('have the change in its history', isWritten, TIMEOUT_MS);
    const [change] = await entries('service=web');
    assert.equal(change?.change, 'http: 1 endpoint added: 10.244.1.21:8080; 2 in use');
    assert.equal(change?.cause, 'EndpointSlice web-1 updated');
    assert.equal(change?.triggered, triggered);
    assert.ok((change?.writtenMs ?? -1) >= 0);

    await cluster.stopApiserver('SIGKILL');
    const services = (kind: string) => async () =>
      (await entries()).some(entry => entry.kind === kind && entry.object === '/api/v1/services');
    await stage.until('note that the watch failed', services('watchFailed'), TIMEOUT_MS);
    await cluster.startApiserver();
    await stage.until('note that the watch recovered', services('watchRecovered'), TIMEOUT_MS);
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true });
  }
});
