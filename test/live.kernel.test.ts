import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { askProxy, type KernelDetail, type ServiceDetail } from '../src/inspect/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { Program } from './control-plane/program.ts';
import { buildKubeProxy, KUBE_PROXY, SYNCED } from './support/kube-proxy.ts';
import { LiveClient } from './support/live-stream.ts';

/** The real program on the examples, and a reader of its live stream. */
describe('the live stream of a running proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-live-'));
  const manifests = join(folder, 'manifests');
  const socket = join(folder, 'proxy.sock');
  const readers: LiveClient[] = [];
  let namespace: NetworkNamespace;
  let proxy: Program;

  before(async () => {
    buildKubeProxy();
    namespace = NetworkNamespace.create();
    cpSync('examples', manifests, { recursive: true });
    proxy = await start();
  });

  after(async () => {
    for (const reader of readers) reader.close();
    await proxy?.stop();
    namespace?.close();
    rmSync(folder, { recursive: true });
  });

  async function start(): Promise<Program> {
    const flags = ['--manifests', manifests, '--hostname-override', 'node-a', '--proxy-mode', 'nftables'];
    const own = ['--inspect-socket', socket, '--healthz-bind-address=', '--metrics-bind-address='];
    const program = new Program('the proxy', [KUBE_PROXY, ...flags, ...own], { namespace });
    await program.until(SYNCED);
    return program;
  }

  function follow(): LiveClient {
    const reader = new LiveClient(socket);
    readers.push(reader);
    return reader;
  }

  function edit(file: string, from: string, to: string): void {
    const path = join(manifests, file);
    const text = readFileSync(path, 'utf8');
    assert.ok(text.includes(from));
    writeFileSync(path, text.replace(from, to));
  }

  test('INSPECT-30 the kernel has every entry that the mode wants for a Service', async () => {
    const { ports } = (await askProxy(socket, '/v1/kernel?service=kube-system/dns')) as KernelDetail;
    assert.deepEqual(
      ports.map(({ family, protocol }) => `${family} ${protocol}`),
      ['IPv4 UDP', 'IPv4 TCP', 'IPv6 UDP', 'IPv6 TCP'],
    );
    const entries = ports.flatMap(port => port.entries);
    assert.ok(entries.some(({ found }) => found?.includes('kube-system/dns')));
    assert.deepEqual([...new Set(entries.map(({ state }) => state))], ['equal']);
  });

  test('INSPECT-24, INSPECT-25 an edited manifest comes as rows and history; another run has another name', async () => {
    const reader = follow();
    const { run } = await reader.until('hello');
    await reader.until('status', ({ status }) => status.ready);
    edit('shop.yaml', '10.244.2.10', '10.244.2.77');
    await reader.until('rows', ({ rows }) => rows.some(row => row.name === 'shop' && row.state === 'programmed'));
    const { entries } = await reader.until('history', event =>
      event.entries.some(({ service }) => service === 'default/shop'),
    );
    assert.match(entries[0]?.change ?? '', /1 endpoint added: 10\.244\.2\.77:8080; 1 removed: 10\.244\.2\.10:8080/);
    const { pulse } = await reader.until('pulse', event => event.pulse.latencyMs !== undefined);
    assert.ok(pulse.syncs > 0);
    const detail = (await askProxy(socket, '/v1/service?name=shop')) as ServiceDetail;
    assert.ok(detail.ports[0]?.endpoints.some(({ address }) => address === '10.244.2.77:8080'));
    await proxy.stop();
    assert.ok(reader.hasEnded);
    proxy = await start();
    assert.notEqual((await follow().until('hello')).run, run);
  });
});
