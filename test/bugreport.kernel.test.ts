import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, before, beforeEach, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { readTar } from '../scripts/release/tar.mjs';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import { Program } from './control-plane/program.ts';
import { certificates } from './support/certificates.ts';
import { EchoingApiServer } from './support/echoing-api-server.ts';
import { buildKubeProxy, KUBE_PROXY, SYNCED } from './support/kube-proxy.ts';
import { base64, KubeconfigFolder } from './support/kubeconfig.ts';
import { createNodeNamespace } from './support/namespaces.ts';
import { nft } from './support/nftables-mode.ts';
import { runIn } from './support/run-in.ts';

const CLUSTER_FLAGS = [
  ...['--hostname-override', 'node-a', '--proxy-mode', 'nftables', '-v', '10', '--conntrack-max-per-core', '0'],
  ...['--conntrack-tcp-timeout-established', '0s', '--conntrack-tcp-timeout-close-wait', '0s'],
];

describe('kube-proxy bugreport', () => {
  let namespace: NetworkNamespace;
  let folder: string;
  let socket: string;
  let program: Program | undefined;

  before(() => {
    buildKubeProxy();
  });

  beforeEach(() => {
    namespace = createNodeNamespace();
    folder = mkdtempSync(join(tmpdir(), 'bugreport-'));
    socket = join(folder, 'proxy.sock');
  });

  afterEach(async () => {
    await program?.stop('SIGKILL');
    program = undefined;
    namespace.close();
    rmSync(folder, { recursive: true });
  });

  function run(...args: string[]) {
    const options = { cwd: folder, maxBuffer: 64 << 20 };
    return namespace.run(() => spawnSync(KUBE_PROXY, ['bugreport', '--inspect-socket', socket, ...args], options));
  }

  function start(...flags: string[]): Program {
    program = new Program('the proxy', [KUBE_PROXY, '--inspect-socket', socket, ...flags], { namespace });
    return program;
  }

  /** The texts of the files, by their paths in the folder of the report. */
  function filesOf(archive: Buffer): ReadonlyMap<string, string> {
    const entries = readTar(gunzipSync(archive)).map(
      entry => [entry.path.replace(/^[^/]*\//, ''), entry.type === 'file' ? entry.content.toString() : ''] as const,
    );
    return new Map(entries);
  }

  test('INSPECT-21 the report has what the proxy and the kernel know, and its own list of files', async () => {
    await start('--manifests', resolve('examples'), '--hostname-override', 'node-a', '--proxy-mode', 'nftables').until(
      SYNCED,
    );
    nft(namespace, 'add', 'table', 'inet', 'other-program');
    const { status, stdout, stderr } = run();
    assert.equal(status, 0, stderr.toString());
    const [name = '', ...rest] = readdirSync(folder).filter(file => file.startsWith('pointsman-'));
    assert.match(name, /^pointsman-node-a-\d{8}T\d{6}Z\.tar\.gz$/);
    assert.deepEqual(rest, []);
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
    assert.match(stdout.toString(), new RegExp(`^Wrote ${name}, \\d+ kB\n {2}✓ proxy/status\\.json `));
    // Another program reads the archive, too.
    assert.match(runIn(namespace, 'tar', ['tzf', join(folder, name)]), /\/README\.txt\n$/);
    const files = filesOf(readFileSync(join(folder, name)));
    const text = (file: string) => files.get(file) ?? assert.fail(`${file} is missing`);
    assert.equal(JSON.parse(text('proxy/status.json')).node, 'node-a');
    assert.equal(JSON.parse(text('proxy/configuration.json')).configuration.mode, 'nftables');
    assert.deepEqual(JSON.parse(text('proxy/problems.json')).input, []);
    assert.match(text('proxy/services.jsonl'), /"name":"web"/);
    assert.match(text('proxy/plan.jsonl'), /"address":"10\.96\.0\.10"/);
    assert.match(text('proxy/history.jsonl'), /"kind":"start"/);
    assert.match(text('proxy/metrics.txt'), /^pointsman_service_ports\{/m);
    assert.match(text('proxy/log.txt'), /"Synced all service ports"/);
    assert.match(text('versions.txt'), /^Pointsman \d.*\nNode v.*\nLinux .*\nnftables v/);
    assert.match(text('kernel/sysctls.txt'), /^net\/netfilter\/nf_conntrack_count = \d+$/m);
    assert.match(text('kernel/nft-ip.txt'), /10\.96\.0\.10 \. (?:tcp|6) \. 80/);
    assert.match(text('kernel/nft-all-tables.txt'), /^table inet other-program /m);
    assert.match(text('kernel/addresses.txt'), /192\.168\.0\.2/);
    for (const file of files.keys()) {
      if (file !== 'README.txt') assert.ok(text('README.txt').includes(file), `README.txt does not list ${file}`);
    }
  });

  test('INSPECT-21 without a proxy the report has the kernel alone, and - writes it to the standard output', () => {
    const { status, stdout, stderr } = run('-o', '-');
    assert.equal(status, 0, stderr.toString());
    const files = filesOf(stdout);
    assert.match(files.get('proxy/status.json') ?? '', /^This part is missing: there is no socket at /);
    assert.match(files.get('kernel/nft-ip.txt') ?? '', /^This part is missing: nft -n list table ip kube-proxy: /);
    assert.match(files.get('README.txt') ?? '', /^proxy\/status\.json +MISSING: there is no socket at /m);
    assert.match(files.get('kernel/addresses.txt') ?? '', /192\.168\.0\.2/);
    assert.match(stderr.toString(), /^Wrote the report to the standard output\n {2}- proxy\/status\.json +there is no/);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('INSPECT-21 a file that cannot be written is an error, and nothing is left behind', () => {
    const { status, stderr } = run('-o', join(folder, 'none', 'report.tar.gz'));
    assert.equal(status, 1);
    assert.match(stderr.toString(), /^Error: cannot write the report: ENOENT: .*: name another file with -o\n$/);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('INSPECT-21 the report replaces neither a device nor a link, and follows no link of another user', () => {
    const [victim, report] = [join(folder, 'victim'), join(folder, 'report.tar.gz')];
    writeFileSync(victim, 'precious');
    symlinkSync(victim, `${report}.part`);
    assert.equal(run('-o', report).status, 0);
    assert.equal(readFileSync(victim, 'utf8'), 'precious');
    assert.equal(statSync(report).mode & 0o777, 0o600);
    const link = join(folder, 'link');
    symlinkSync('/dev/null', link);
    const { status, stderr } = run('-o', link);
    assert.equal(status, 1);
    assert.match(stderr.toString(), /^Error: cannot write the report: \S+\/link is no regular file: name another file/);
    assert.equal(readlinkSync(link), '/dev/null');
  });

  test('INSPECT-8 INSPECT-22 neither the report nor the API shows a token, a password or a key', async () => {
    const { ca, client } = certificates();
    const token = `eyJ${randomBytes(300).toString('base64url')}.${randomBytes(100).toString('base64url')}`;
    const foreign = `foreign-${randomBytes(8).toString('hex')}`;
    const kubeconfigs = new KubeconfigFolder();
    const api = await EchoingApiServer.start(namespace);
    try {
      const cluster = { server: api.url, 'certificate-authority-data': base64(ca.cert) };
      const keys = { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) };
      const proxy = start('--kubeconfig', kubeconfigs.kubeconfig(cluster, { token, ...keys }), ...CLUSTER_FLAGS);
      // The server repeats the credentials in its errors, and the proxy logs these.
      await proxy.until('the API server does not accept the credentials (401');
      api.accept();
      await proxy.until(SYNCED);
      // A rule of another program may have a secret, too.
      nft(namespace, 'add', 'table', 'inet', 'other');
      nft(namespace, 'add', 'chain', 'inet', 'other', 'x');
      nft(namespace, 'add', 'rule', 'inet', 'other', 'x', 'counter', 'comment', `"password=${foreign}"`);
      const { status, stdout, stderr } = run('-o', '-');
      assert.equal(status, 0, stderr.toString());
      const files = filesOf(stdout);
      assert.match(files.get('proxy/log.txt') ?? '', /<redacted>/);
      assert.match(files.get('kernel/nft-all-tables.txt') ?? '', /password=<redacted>/);
      const lines = [token, token.slice(0, 30), foreign, ...client.key.split('\n').filter(line => line.length > 40)];
      for (const [file, text] of files) {
        for (const secret of [...lines, ...lines.map(base64)])
          assert.ok(!text.includes(secret), `${file} has ${secret}`);
      }
    } finally {
      await program?.stop('SIGKILL');
      await api.close();
      kubeconfigs.close();
    }
  });
});
