import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { DaemonOptions } from '../../daemon/index.ts';
import { main } from '../main.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-'));
after(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What was called, and with what. */
  readonly calls: readonly { readonly what: 'run' | 'cleanup'; readonly options: DaemonOptions }[];
}

async function run(args: readonly string[], act: (options: DaemonOptions) => void = () => undefined): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const calls: { what: 'run' | 'cleanup'; options: DaemonOptions }[] = [];
  const io = {
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) },
    env: {},
  };
  const runner = (what: 'run' | 'cleanup') => async (options: DaemonOptions) => {
    calls.push({ what, options });
    act(options);
  };
  const status = await main(args, io, { run: runner('run'), cleanup: runner('cleanup') });
  return { status, stdout: out.join(''), stderr: err.join(''), calls };
}

async function optionsOf(...args: string[]): Promise<DaemonOptions> {
  const { status, calls, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  const [first] = calls;
  assert.ok(first);
  return first.options;
}

function configFile(text: string): string {
  const path = join(folder, 'config.yaml');
  writeFileSync(path, `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n${text}`);
  return path;
}

describe('kube-proxy', () => {
  test('CLI-9 without any arguments it runs with the defaults', async () => {
    const { status, calls } = await run([]);
    assert.equal(status, 0);
    const [{ what, options } = assert.fail('nothing ran')] = calls;
    assert.deepEqual(
      [what, options.configuration.mode, options.configFile, options.configText, options.master, options.initOnly],
      ['run', 'iptables', '', '', '', false],
    );
    assert.deepEqual([options.manifests, options.kubernetesVersion], [undefined, 'v1.36.4']);
  });

  test('CLI-9 a run is told what the command line says beside the configuration', async () => {
    const path = configFile('mode: ipvs\n');
    const options = await optionsOf('--config', path, '--master=https://api', '--init-only', '--version=v1.36.4-x');
    assert.deepEqual(
      [options.configuration.mode, options.configFile, options.master, options.initOnly, options.kubernetesVersion],
      ['ipvs', path, 'https://api', true, 'v1.36.4-x'],
    );
    assert.equal(options.configText, readFileSync(path, 'utf8'));
    assert.deepEqual(
      options.flags().find(({ name }) => name === 'master'),
      { name: 'master', value: 'https://api' },
    );
  });

  test("CLI-14 a changed file is read as at the start: the flags of the log and the node's name count, errors are thrown", async () => {
    const path = configFile('mode: ipvs\n');
    const head = readFileSync(path, 'utf8');
    const { reload } = await optionsOf('--config', path, '-v=3', '--hostname-override=A');
    const next = reload(`${head}logging: {verbosity: 1}\nnodePortAddresses: [10.0.0.0/8]\n`);
    assert.deepEqual(
      [next.mode, next.logging.verbosity, next.hostnameOverride, next.nodePortAddresses, next.detectLocalMode],
      ['ipvs', 3, 'a', ['10.0.0.0/8'], 'ClusterCIDR'],
    );
    assert.throws(() => reload(`${head}oomScoreAdj: 5000\n`), /OOMScoreAdj: Invalid value: 5000/);
    assert.throws(() => reload(`${head}logging: {format: xml}\n`), /logging\.format: Invalid value: "xml"/);
    assert.throws(() => reload(`${head}featureGates: {Nope: true}\n`), { message: 'unrecognized feature gate: Nope' });
    assert.throws(() => reload(''), { message: "failed to decode: Object 'Kind' is missing in ''" });
  });

  test('CLI-9 --cleanup outweighs --init-only, and a written configuration both', async () => {
    assert.deepEqual(
      (await run(['--cleanup', '--init-only'])).calls.map(({ what }) => what),
      ['cleanup'],
    );
    const target = join(folder, 'written.yaml');
    assert.deepEqual((await run(['--cleanup', '--init-only', '--write-config-to', target])).calls, []);
  });

  test('CLI-9 an error of the run is logged twice, and in the format that was asked for', async () => {
    const { status, stderr } = await run(['--logging-format=json', '-v=0'], () => {
      throw new Error('no way');
    });
    assert.equal(status, 1);
    const lines = stderr.trimEnd().split('\n').slice(1);
    assert.deepEqual(
      lines.map(line => JSON.parse(line)).map(({ ts: _, ...rest }) => rest),
      [
        { caller: 'command.ts', msg: 'Error running ProxyServer', err: 'no way' },
        { caller: 'command.ts', msg: 'command failed', err: 'no way' },
      ],
    );
  });

  test('CLI-9 what is buffered of the log is written before the end', async () => {
    const gates = '--feature-gates=LoggingAlphaOptions=true';
    const buffer = '--log-text-info-buffer-size=64Ki';
    const { stdout } = await run([gates, buffer, '--log-text-split-stream'], ({ log }) =>
      log.info('test', 'last words'),
    );
    assert.match(stdout, /"last words"\n$/);
  });

  test('CLI-9 the verbosity can be changed while it runs', async () => {
    const { stderr } = await run(['-v=1'], ({ log, logControl }) => {
      log.v(2, 'test', 'before');
      logControl.setVerbosity(logControl.verbosity + 1);
      log.v(2, 'test', 'after');
    });
    assert.ok(!stderr.includes('"before"'));
    assert.ok(stderr.includes('"after"'));
  });

  test('CLI-10 gates that are to vanish are warned of', async () => {
    const { stderr, status } = await run(['--feature-gates=AllBeta=true,MultiCIDRServiceAllocator=true']);
    assert.equal(status, 0);
    assert.match(stderr, /^W.* featureGate="MultiCIDRServiceAllocator" value=true$/m);
  });

  test('CLI-11 userspace is a mode', async () => {
    assert.equal((await optionsOf('--proxy-mode=userspace')).configuration.mode, 'userspace');
  });

  const manifestModes: [string, string[], string][] = [
    ['nftables unless one is named', [], 'nftables'],
    ['that of the flag', ['--proxy-mode=ipvs'], 'ipvs'],
    ['that of the file', ['--config', 'FILE'], 'iptables'],
  ];
  for (const [what, flags, mode] of manifestModes) {
    test(`CLI-3 with manifests the mode is ${what}`, async () => {
      const file = configFile('mode: iptables\n');
      const args = flags.map(flag => (flag === 'FILE' ? file : flag));
      const { configuration, manifests, flags: texts } = await optionsOf('--manifests', 'DIR', ...args);
      assert.deepEqual([configuration.mode, manifests], [mode, 'DIR']);
      assert.equal(texts().find(({ name }) => name === 'manifests')?.value, 'DIR');
    });
  }

  test('CLI-15 connections are counted if that is asked for, also beside a configuration file', async () => {
    assert.equal((await optionsOf()).countConnections, false);
    const { countConnections, flags } = await optionsOf(
      '--config',
      configFile('mode: nftables\n'),
      '--count-connections',
    );
    assert.equal(countConnections, true);
    assert.equal(flags().find(({ name }) => name === 'count-connections')?.value, 'true');
  });

  test('CLI-3 node ports with manifests are those of nftables mode', async () => {
    assert.deepEqual((await optionsOf('--manifests', 'DIR')).configuration.nodePortAddresses, ['primary']);
  });
});

describe('help and version', () => {
  test('CLI-4 help: all flags of upstream by name, ours apart; nothing runs, whatever else is there', async () => {
    for (const flag of ['-h', '--help']) {
      const { status, stdout, stderr, calls } = await run([flag, 'argument', '--version', '--proxy-mode=fancy']);
      assert.deepEqual([status, stderr, calls], [0, '', []]);
      const [upstream = '', own = ''] = stdout.split('Flags of Pointsman alone:');
      const names = [...upstream.matchAll(/^ {2}(?: {4}|-\w, )--([\w-]+)/gm)].map(([, name]) => name);
      assert.equal(names.length, 57);
      assert.deepEqual(names, [...names].sort());
      assert.ok(!names.includes('healthz-port'), 'deprecated flags are hidden');
      assert.match(upstream, /^ {6}--iptables-sync-period duration +.* \(default 30s\)$/m);
      assert.match(upstream, /^ {6}--version version\[=true\] /m);
      assert.match(upstream, /^ +LoggingAlphaOptions=true\|false \(ALPHA - default=false\)$/m);
      assert.match(
        own,
        /--manifests string[\s\S]*Commands of Pointsman alone:\n {2}plan .*\n {2}demo .*\n {2}cleanup .*\n {2}version /,
      );
    }
  });

  test('CLI-12 --version=raw has the fields of upstream, and says what we are', async () => {
    const { status, stdout } = await run(['--version=raw']);
    assert.equal(status, 0);
    assert.match(
      stdout,
      /^version\.Info\{Major:"1", Minor:"36", .*GitVersion:"v1\.36\.4", .*Compiler:"Pointsman \d[^"]*", Platform:"linux\/\w+"\}\n$/,
    );
  });

  test('CLI-12 --version=false changes nothing', async () => {
    assert.equal((await run(['--version=false'])).calls.length, 1);
  });

  test('CLI-12 kube-proxy version says our own', async () => {
    const { status, stdout } = await run(['version']);
    assert.equal(status, 0);
    assert.match(stdout, /^Pointsman \d+\.\d+\.\d+, for Kubernetes v1\.36\.4\n$/);
    assert.match((await run(['version', '--help'])).stdout, /Usage:/);
    assert.match((await run(['version', 'x'])).stderr, /^Error: "kube-proxy version" does not take any arguments/);
  });
});
