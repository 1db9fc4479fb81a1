import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { runMain } from '../../../test/support/run-main.ts';
import type { ProxyStatus } from '../../inspect/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'status-'));
const path = join(folder, 'proxy.sock');
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000 - 200).toISOString();

const STATUS: ProxyStatus & { readonly schema: string } = {
  schema: 'pointsman.status/v1',
  version: '0.2.0',
  kubernetesVersion: 'v1.37.0',
  node: 'node-a',
  mode: 'nftables',
  source: 'cluster',
  pid: 7,
  startedAt: '2026-03-02T04:11:09.123Z',
  uptimeSeconds: 11_530,
  alive: true,
  ready: false,
  healthy: true,
  nodeEligible: true,
  pending: true,
  programmed: { services: '48205', endpointSlices: '48211' },
  families: [
    {
      family: 'IPv4',
      alive: true,
      healthy: true,
      lastSync: ago(4),
      error: 'the kernel refused\u001b[2J it',
      servicePorts: { programmed: 7, setAside: 1 },
      conflicts: 0,
    },
  ],
  checks: [
    { name: 'sync-IPv4', ready: false, problems: [{ message: 'the last sync failed: refused' }] },
    { name: 'input', ready: true, note: '1 problem', problems: [{ object: 'Service a/b', message: 'is wrong' }] },
    { name: 'drift', ready: true, problems: [] },
  ],
  syncs: [
    { at: ago(4), family: 'IPv4', full: false, servicePorts: 0, milliseconds: 3, error: 'refused' },
    { at: ago(540), family: 'IPv4', full: true, servicePorts: 7, milliseconds: 40 },
  ],
  failedSyncs: 1,
  drift: { repairs: 2, last: { at: ago(65), family: 'IPv4', cause: 'nft deleted a rule', written: '1 rule' } },
  memory: { resident: 88_400_000, heapUsed: 1, external: 2 },
  watches: [
    { path: '/api/v1/services', synced: true, silentSeconds: 12 },
    { path: '/api/v1/nodes', synced: false, problem: 'forbidden' },
  ],
  problems: 1,
};

describe('kube-proxy status through the socket', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  async function serve(body: string): Promise<void> {
    const server = createServer((_request, response) => response.end(body));
    servers.push(server);
    server.listen(path);
    await once(server, 'listening');
  }

  async function status(...args: string[]) {
    const { status: exit, stdout, stderr } = await runMain(['status', '--inspect-socket', path, ...args]);
    return { exit, stdout: stdout + stderr };
  }

  test('INSPECT-20 PROGRAMMED-5 every line of the answer is shown, and no text can control the terminal', async () => {
    await serve(JSON.stringify(STATUS));
    const { exit, stdout } = await status();
    assert.equal(exit, 1);
    // A busy machine takes longer.
    const text = stdout.trimEnd().replaceAll(/\d+ s ago/g, 'N s ago');
    assert.deepEqual(text.split('\n'), [
      '✗ The proxy of node node-a is not healthy',
      '  version       Pointsman 0.2.0, Kubernetes v1.37.0',
      '  mode          nftables',
      '  running       for 3 h 12 min, since 2026-03-02T04:11:09Z, as process 7',
      '  IPv4          last sync N s ago, 7 service ports programmed, 1 set aside, the last sync failed: the kernel refused\\x1b[2J it',
      '  programmed    Services up to version 48205, EndpointSlices up to version 48211',
      '  last syncs    N s ago, IPv4, partial sync: failed: refused',
      '                9 min ago, IPv4, full sync: 7 service ports changed, 40 ms',
      '  failed syncs  1',
      '  drift         2 repairs, the last 1 min ago (IPv4): nft deleted a rule; the proxy repaired it: 1 rule',
      '  memory        88 MB',
      '  watches       /api/v1/services: last message N s ago',
      '                /api/v1/nodes: not all objects received, no message yet, forbidden',
      '  ✗ sync-IPv4 failed: the last sync failed: refused',
      '  ! input ok: 1 problem; Service a/b: is wrong',
      '  ✓ drift ok',
    ]);
  });

  test('INSPECT-20 JSON and YAML have the same data', async () => {
    await serve(JSON.stringify({ ...STATUS, ready: true }));
    const json = await status('-o', 'json');
    const yaml = await status('-o', 'yaml');
    assert.deepEqual([json.exit, yaml.exit], [0, 0]);
    const data = JSON.parse(json.stdout);
    assert.deepEqual([data.schema, data.verdict, data.version], ['pointsman.statusReport/v1', 'healthy', '0.2.0']);
    assert.deepEqual(data.servers, { socket: { address: path } });
    assert.equal(data.families[0].error, STATUS.families[0]?.error);
    assert.equal(parse(yaml.stdout).watches[1].problem, 'forbidden');
  });

  test('INSPECT-20 another program, and another version of the answer, are not taken for a healthy proxy', async () => {
    await serve('{"schema":"pointsman.status/v9"}');
    const { exit, stdout } = await status();
    assert.equal(exit, 2);
    assert.match(stdout, /: the answer at .* is no status of a Pointsman proxy\n/);
  });
});
