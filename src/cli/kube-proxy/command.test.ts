import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import { type MainResult, runMain } from '../../../test/support/run-main.ts';
import type { DaemonOptions } from '../../daemon/index.ts';
import { KUBERNETES_VERSION } from '../../lib/kubernetes-version.ts';
import { MODES } from '../../modes/index.ts';
import type { FlagTable } from '../flags/index.ts';
import { main } from '../main.ts';
import { KUBE_PROXY_FLAGS } from './flags/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-'));
after(() => rmSync(folder, { recursive: true }));

interface Ran extends MainResult {
  readonly calls: readonly { readonly task: 'run' | 'cleanup'; readonly options: DaemonOptions }[];
}

async function run(
  args: readonly string[],
  act: (options: DaemonOptions) => void = () => undefined,
  columns?: number,
): Promise<Ran> {
  const calls: { task: 'run' | 'cleanup'; options: DaemonOptions }[] = [];
  const runner = (task: 'run' | 'cleanup') => async (options: DaemonOptions) => {
    calls.push({ task, options });
    act(options);
  };
  const runners = { run: runner('run'), cleanup: runner('cleanup') };
  const printed = await runMain(args, { runners, ...(columns === undefined ? {} : { terminal: { columns } }) });
  return { ...printed, calls };
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
  test('LOG-8 the proxy goes on when the reader of its log is gone', async () => {
    const stdout = Object.assign(new EventEmitter(), { write: () => true });
    const stderr = Object.assign(new EventEmitter(), { write: () => true });
    const breakPipes = async () => {
      for (const stream of [stdout, stderr]) stream.emit('error', new Error('write EPIPE'));
    };
    assert.equal(await main([], { stdout, stderr, env: {} }, { run: breakPipes, cleanup: breakPipes }), 0);
  });

  test('INSPECT-3 the inspection API listens at a loopback address only', async () => {
    const addresses = ['0.0.0.0:10999', '192.168.0.2:10999', '[::]:10999', '127.0.0.1', 'localhost:1', '127.0.0.1:0'];
    for (const address of addresses) {
      const { status, stderr, calls } = await run(['--inspect-bind-address', address]);
      assert.deepEqual([status, calls], [1, []], address);
      assert.match(stderr, /^Error: invalid argument ".*" for "--inspect-bind-address" flag: /);
    }
    const { calls } = await run(['--inspect-bind-address', '[::1]:10999']);
    assert.equal(calls[0]?.options.inspectBindAddress, '[::1]:10999');
  });

  test('PROGRAMMED-9 the proxy reports what it has programmed only if the operator asks for it', async () => {
    assert.equal((await optionsOf()).reportProgrammed, undefined);
    const usual = { namespace: 'pointsman-nodes', intervalMs: 5000 };
    assert.deepEqual((await optionsOf('--report-programmed')).reportProgrammed, usual);
    assert.deepEqual((await optionsOf('--config', configFile(''), '--report-programmed')).reportProgrammed, usual);
    const own = ['--report-programmed-namespace=x', '--report-programmed-interval=1m'];
    const { reportProgrammed } = await optionsOf('--report-programmed', ...own);
    assert.deepEqual(reportProgrammed, { namespace: 'x', intervalMs: 60_000 });
    for (const wrong of ['--report-programmed-namespace=', '--report-programmed-interval=10ms', '--manifests=x']) {
      const { status, stderr, calls } = await run(['--report-programmed', wrong]);
      assert.deepEqual([status, calls], [1, []], wrong);
      assert.match(stderr, /^Error: --report-programmed/);
    }
  });

  test('PAGE-1 there is a page where the operator wants one, and by default only with manifests', async () => {
    const addressOf = async (...args: string[]) => (await optionsOf(...args)).page?.address;
    assert.equal(await addressOf(), undefined);
    assert.equal(await addressOf('--page-bind-address='), undefined);
    assert.equal(await addressOf('--manifests=x', '--page-bind-address='), undefined);
    const own = { ip: '127.0.0.1', port: 10280, mayUseOtherPort: true, files: undefined };
    assert.deepEqual(await addressOf('--manifests=x'), own);
    const named = ['--manifests=x', '--page-bind-address=127.0.0.1:10280'];
    assert.deepEqual(await addressOf(...named), { ...own, mayUseOtherPort: false });
    const six = { ip: '::1', port: 99, mayUseOtherPort: false, files: undefined };
    assert.deepEqual(await addressOf('--config', configFile(''), '--page-bind-address=[::1]:99'), six);
  });

  test('PAGE-2 another address than loopback needs TLS and a token, and the error names the missing flags', async () => {
    const files = ['--page-tls-cert-file=c', '--page-tls-key-file=k', '--page-token-file=t'];
    for (const address of ['0.0.0.0:10280', '192.168.0.2:10280', '[::]:10280', '[fd00::1]:10280']) {
      for (let missing = 0; missing < files.length; missing++) {
        const given = files.filter((_, i) => i !== missing);
        const { status, stderr, calls } = await run(['--page-bind-address', address, ...given]);
        assert.deepEqual([status, calls], [1, []]);
        const flag = files[missing]?.replace(/=.*/, '');
        assert.ok(stderr.includes(`${address} is not a loopback address, so it also needs ${flag}\n`), stderr);
      }
      const { page } = await optionsOf('--page-bind-address', address, ...files);
      assert.deepEqual(page?.address.files, { certFile: 'c', keyFile: 'k', tokenFile: 't' });
    }
    const { stderr } = await run(['--page-bind-address=127.0.0.2:1', '--page-token-file=t']);
    assert.match(stderr, /with TLS or a token also needs --page-tls-cert-file and --page-tls-key-file\n/);
    for (const address of ['localhost:1', '127.0.0.1', '127.0.0.1:99999', 'x']) {
      assert.match((await run(['--page-bind-address', address])).stderr, /^Error: invalid argument /, address);
    }
  });

  test('PAGE-11 the page may do only what the operator allows', async () => {
    const allows = async (...args: string[]) => (await optionsOf('--manifests=x', ...args)).page?.allows;
    assert.deepEqual(await allows(), []);
    assert.deepEqual(await allows('--page-allow=probe,trace'), ['probe', 'trace']);
    assert.deepEqual(await allows('--page-allow=trace', '--page-allow=trace'), ['trace']);
    const { status, stderr } = await run(['--page-allow=write']);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^Error: invalid argument "write" for "--page-allow" flag: "write" is not known: use probe or/,
    );
  });

  test('CLI-9 without arguments, the proxy runs with the defaults', async () => {
    const { status, calls } = await run([]);
    assert.equal(status, 0);
    const [{ task, options } = assert.fail('nothing ran')] = calls;
    assert.deepEqual(
      [task, options.configuration.mode, options.configFile, options.configText, options.master, options.initOnly],
      ['run', 'iptables', '', '', '', false],
    );
    assert.deepEqual([options.manifests, options.kubernetesVersion], [undefined, 'v1.37.0']);
  });

  test('CLI-9 a run gets the flags that are not part of the configuration', async () => {
    const path = configFile('mode: ipvs\n');
    const options = await optionsOf('--config', path, '--master=https://api', '--init-only', '--version=v1.37.0-x');
    assert.deepEqual(
      [options.configuration.mode, options.configFile, options.master, options.initOnly, options.kubernetesVersion],
      ['ipvs', path, 'https://api', true, 'v1.37.0-x'],
    );
    assert.equal(options.configText, readFileSync(path, 'utf8'));
    assert.deepEqual(
      options.flags().find(({ name }) => name === 'master'),
      { name: 'master', value: 'https://api' },
    );
  });

  test('CLI-14 a changed file is read as at the start, with the flags of the log and the node name, and errors are thrown', async () => {
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

  test('CLI-9 --cleanup overrides --init-only, and --write-config-to overrides both', async () => {
    assert.deepEqual(
      (await run(['--cleanup', '--init-only'])).calls.map(({ task }) => task),
      ['cleanup'],
    );
    const target = join(folder, 'written.yaml');
    assert.deepEqual((await run(['--cleanup', '--init-only', '--write-config-to', target])).calls, []);
  });

  test('CLI-9 an error of the run is logged twice, in the configured format', async () => {
    const { status, stderr } = await run(['--logging-format=json', '-v=0'], () => {
      throw new Error('no way');
    });
    assert.equal(status, 1);
    const lines = stderr.trimEnd().split('\n');
    assert.deepEqual(
      lines.map(line => JSON.parse(line)).map(({ ts: _, caller, ...rest }) => [caller.replace(/\d+$/, ''), rest]),
      [
        ['command.ts:', { msg: 'Error running ProxyServer', err: 'no way' }],
        ['command.ts:', { msg: 'command failed', err: 'no way' }],
      ],
    );
  });

  test('CLI-38 flags that only v1.36 has are accepted without effect, and the program says so', async () => {
    const { status, stderr, calls } = await run(['--machine-id-file=/x', '--boot_id_file', '/y']);
    assert.equal(status, 0);
    assert.deepEqual(stderr.trimEnd().split('\n'), [
      'Flag --machine-id-file has been deprecated, it has no effect: remove it',
      'Flag --boot-id-file has been deprecated, it has no effect: remove it',
    ]);
    const [{ options } = assert.fail('nothing ran')] = calls;
    assert.equal(options.flags().find(({ name }) => name === 'boot-id-file')?.value, '/y');
    const others = (await optionsOf()).flags().map(({ name }) => name);
    assert.ok(!others.includes('boot-id-file') && !others.includes('machine-id-file'));
  });

  test('CONF-40 a run learns whether the operator named a mode', async () => {
    assert.equal((await optionsOf()).isModeDefaulted, true);
    assert.equal((await optionsOf('--proxy-mode=iptables')).isModeDefaulted, false);
    assert.equal((await optionsOf('--config', configFile(''))).isModeDefaulted, true);
    assert.equal((await optionsOf('--config', configFile('mode: iptables\n'))).isModeDefaulted, false);
    assert.equal(
      (await optionsOf('--manifests', 'DIR')).isModeDefaulted,
      false,
      'nftables mode is chosen, not defaulted',
    );
  });

  test('CLI-9 buffered log lines are written before the end', async () => {
    const gates = '--feature-gates=LoggingAlphaOptions=true';
    const buffer = '--log-text-info-buffer-size=64Ki';
    const { stdout } = await run([gates, buffer, '--log-text-split-stream'], ({ log }) =>
      log.info('test', 'last words'),
    );
    assert.match(stdout, /"last words"\n$/);
  });

  test('CLI-9 the verbosity can be changed while the proxy runs', async () => {
    const { stderr } = await run(['-v=1'], ({ log, logControl }) => {
      log.v(2, 'test', 'before');
      logControl.setVerbosity(logControl.verbosity + 1);
      log.v(2, 'test', 'after');
    });
    assert.ok(!stderr.includes('"before"'));
    assert.ok(stderr.includes('"after"'));
  });

  test('CLI-10 a gate that a future release removes causes a warning', async () => {
    const { stderr, status } = await run(['--feature-gates=AllBeta=true,MultiCIDRServiceAllocator=true']);
    assert.equal(status, 0);
    assert.match(stderr, /^W.* featureGate="MultiCIDRServiceAllocator" value=true$/m);
  });

  test('CLI-11 userspace is a valid mode', async () => {
    assert.equal((await optionsOf('--proxy-mode=userspace')).configuration.mode, 'userspace');
  });

  const manifestModes: [choice: string, flags: string[], mode: string][] = [
    ['nftables by default', [], 'nftables'],
    ['the one of the flag', ['--proxy-mode=ipvs'], 'ipvs'],
    ['the one of the file', ['--config', 'FILE'], 'iptables'],
  ];
  for (const [choice, flags, mode] of manifestModes) {
    test(`CLI-3 with manifests, the mode is ${choice}`, async () => {
      const file = configFile('mode: iptables\n');
      const args = flags.map(flag => (flag === 'FILE' ? file : flag));
      const { configuration, manifests, flags: texts } = await optionsOf('--manifests', 'DIR', ...args);
      assert.deepEqual([configuration.mode, manifests], [mode, 'DIR']);
      assert.equal(texts().find(({ name }) => name === 'manifests')?.value, 'DIR');
    });
  }

  test('CLI-16 --allow-loopback-endpoints takes effect, also with a configuration file', async () => {
    assert.equal((await optionsOf()).allowLoopbackEndpoints, false);
    const { allowLoopbackEndpoints } = await optionsOf(
      '--config',
      configFile('mode: nftables\n'),
      '--allow-loopback-endpoints',
    );
    assert.equal(allowLoopbackEndpoints, true);
  });

  test('CLI-15 --count-connections takes effect, also with a configuration file', async () => {
    assert.equal((await optionsOf()).countConnections, false);
    const { countConnections, flags } = await optionsOf(
      '--config',
      configFile('mode: nftables\n'),
      '--count-connections',
    );
    assert.equal(countConnections, true);
    assert.equal(flags().find(({ name }) => name === 'count-connections')?.value, 'true');
  });

  test('CLI-79 --default-balance takes effect, also with a configuration file, and is unset by default', async () => {
    assert.equal((await optionsOf()).defaultBalance, undefined);
    const file = configFile('mode: nftables\n');
    assert.equal((await optionsOf('--config', file, '--default-balance=round-robin')).defaultBalance, 'round-robin');
  });

  test('CLI-79 --default-balance refuses an algorithm that does not exist, and names those that do', async () => {
    const { status, stderr } = await run(['--default-balance=best']);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^Error: invalid argument "best" for "--default-balance" flag: "best" is not known: use random/,
    );
  });

  test('CLI-78 --keep-node-source-ports takes effect, also with a configuration file', async () => {
    assert.equal((await optionsOf()).keepNodeSourcePorts, false);
    const file = configFile('mode: nftables\n');
    assert.equal((await optionsOf('--config', file, '--keep-node-source-ports')).keepNodeSourcePorts, true);
  });

  test('CLI-77 ebpf is a valid mode', async () => {
    assert.equal((await optionsOf('--proxy-mode=ebpf')).configuration.mode, 'ebpf');
  });

  test('CLI-77 the flags of ebpf mode take effect, also with a configuration file', async () => {
    const { ebpfSockets, cgroupRoot } = await optionsOf();
    assert.deepEqual([ebpfSockets, cgroupRoot], ['all', undefined]);
    const file = configFile('mode: ebpf\n');
    const given = await optionsOf('--config', file, '--ebpf-sockets=node', '--cgroup-root', '/a/group');
    assert.deepEqual([given.ebpfSockets, given.cgroupRoot], ['node', '/a/group']);
  });

  test('CLI-77 --ebpf-sockets refuses other words', async () => {
    const { status, stderr } = await run(['--ebpf-sockets=pods']);
    assert.equal(status, 1);
    assert.match(stderr, /^Error: invalid argument "pods" for "--ebpf-sockets" flag: "pods" is not known: use all or/);
  });

  test('CLI-3 with manifests, nodePortAddresses has the default of nftables mode', async () => {
    assert.deepEqual((await optionsOf('--manifests', 'DIR')).configuration.nodePortAddresses, ['primary']);
  });
});

const COMMANDS = ['status', 'explain', 'plan', 'demo', 'cleanup', 'completion', 'version', 'help'];

describe('help and version', () => {
  test('CLI-4 --help and help print commands, examples and flags in groups, and run nothing, whatever the other flags', async () => {
    for (const args of [['-h', 'x', '--version', '--proxy-mode=fancy'], ['--help'], ['help']]) {
      const { status, stdout, stderr, calls } = await run(args);
      assert.deepEqual([status, stderr, calls], [0, '', []]);
      assert.match(
        stdout,
        /\nCommands:\n {2}status .*[\s\S]*\nExamples:\n[\s\S]*\nFlags: Configuration\n[\s\S]*\nFlags: Mode\n/,
      );
      assert.match(stdout, /^ {6}--proxy-mode ProxyMode +How the proxy/m);
      assert.match(stdout, /Only Pointsman\n? *has this flag/);
    }
  });

  test('CLI-4 every flag that is not deprecated is in exactly one group', async () => {
    const { stdout } = await run(['help', 'flags']);
    const shown = [...stdout.matchAll(/^ {2}(?: {4}|-\w, )--([\w-]+)/gm)].map(([, name]) => name);
    const wanted = Object.entries(KUBE_PROXY_FLAGS as FlagTable).filter(([, { deprecated }]) => !deprecated);
    assert.deepEqual([...shown].sort(), wanted.map(([name]) => name).sort());
  });

  test('CLI-4 no line of any help is wider than the terminal', async () => {
    const topics = [[], ['flags'], ...COMMANDS.map(name => [name])];
    for (const columns of [80, 100]) {
      for (const topic of topics) {
        const { stdout } = await run(['help', ...topic], undefined, columns);
        const wide = stdout.split('\n').filter(line => line.length > columns);
        assert.deepEqual(wide, [], `${topic} ${columns}`);
      }
    }
  });

  test('CLI-4 help COMMAND prints what COMMAND --help prints', async () => {
    for (const command of COMMANDS) {
      const { stdout } = await run(['help', command]);
      assert.match(stdout, new RegExp(`\nUsage:\n  kube-proxy ${command}`));
      assert.equal((await run([command, '--help'])).stdout, stdout);
    }
  });

  test('CLI-4 help upstream prints the help of upstream byte for byte', async () => {
    const { status, stdout } = await run(['help', 'upstream']);
    assert.equal(status, 0);
    // The hash is that of the output of upstream's own program.
    const hash = createHash('sha256').update(stdout).digest('hex');
    assert.equal(hash, 'a03f20845eec7e3110f516cbf584edb7f2e433794d349605d035e1a934cced2e');
  });

  test('CLI-4 help feature-gates lists the feature gates', async () => {
    const { stdout } = await run(['help', 'feature-gates']);
    assert.match(stdout, /^LoggingAlphaOptions=true\|false \(ALPHA - default=false\)$/m);
  });

  const mistyped: readonly [args: string[], stderr: string][] = [
    [['--proxy-mod', 'x'], 'Error: unknown flag: --proxy-mod\nDid you mean --proxy-mode? See: kube-proxy help\n'],
    [['--dance'], 'Error: unknown flag: --dance\nSee: kube-proxy help\n'],
    [
      ['plam'],
      'Error: "kube-proxy" does not take any arguments, got ["plam"]\nDid you mean kube-proxy plan? See: kube-proxy help\n',
    ],
    [['plam', '--once'], 'Error: unknown flag: --once\nDid you mean kube-proxy plan? See: kube-proxy help\n'],
    [['help', 'plan', 'demo'], 'Error: "kube-proxy help" takes only one argument\nSee: kube-proxy help help\n'],
    [['plan', '--rulse'], 'Error: unknown flag: --rulse\nDid you mean --rules? See: kube-proxy help plan\n'],
    [
      ['version', '-o', 'jason'],
      'Error: invalid argument "jason" for "-o, --output" flag: must be text, json or yaml\nDid you mean json? See: kube-proxy help version\n',
    ],
  ];
  for (const [args, expected] of mistyped) {
    test(`CLI-19 kube-proxy ${args.join(' ')} is answered with the nearest word`, async () => {
      const { status, stdout, stderr } = await run(args);
      assert.deepEqual([status, stdout, stderr], [1, '', expected]);
    });
  }

  test('CLI-19 the log names all modes when a mode is not known, and the error stays that of upstream', async () => {
    const { status, stderr } = await run(['--proxy-mode=iptable']);
    assert.equal(status, 1);
    const modes = MODES.map(({ name }) => name).join(', ');
    assert.ok(
      stderr.includes(`"Proxy mode is not known" mode="iptable" modes="${modes}" nearest="iptables"\n`),
      stderr,
    );
    assert.doesNotMatch((await run(['--proxy-mode=nftables'])).stderr, /not known/);
  });

  test('CLI-12 --version=raw prints the fields of upstream, and names Pointsman', async () => {
    const { status, stdout } = await run(['--version=raw']);
    assert.equal(status, 0);
    assert.match(
      stdout,
      /^version\.Info\{Major:"1", Minor:"37", .*GitVersion:"v1\.37\.0", .*Compiler:"Pointsman \d[^"]*", Platform:"linux\/\w+"\}\n$/,
    );
  });

  test('CLI-12 --version=false changes nothing', async () => {
    assert.equal((await run(['--version=false'])).calls.length, 1);
  });

  test('CLI-12 the version command prints the version of Pointsman, as text, JSON or YAML', async () => {
    const { status, stdout } = await run(['version']);
    assert.equal(status, 0);
    assert.match(stdout, /^Pointsman \d+\.\d+\.\d+, for Kubernetes v1\.37\.0\n$/);
    const json = JSON.parse((await run(['version', '-o', 'json'])).stdout);
    assert.deepEqual(Object.keys(json), ['pointsman', 'kubernetes', 'node', 'platform']);
    assert.deepEqual([json.kubernetes, json.node], [KUBERNETES_VERSION, process.version]);
    assert.deepEqual(parse((await run(['version', '-o', 'yaml'])).stdout), json);
    assert.match((await run(['version', '--help'])).stdout, /Usage:/);
    assert.match((await run(['version', 'x'])).stderr, /^Error: "kube-proxy version" does not take any arguments/);
  });
});
