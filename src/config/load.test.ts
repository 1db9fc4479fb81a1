import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { goQuote } from '../lib/go-quote.ts';
import {
  aggregate,
  applyFeatureGates,
  applyPlatformDefaults,
  type Configuration,
  ConfigurationError,
  defaultConfiguration,
  defaultFeatureGates,
  encodeConfiguration,
  loadConfiguration,
  masqueradeBitOf,
  validateConfiguration,
  validateLogging,
} from './index.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

function load(text: string): Configuration {
  return loadConfiguration(HEAD + text).configuration;
}

interface Outcome {
  readonly error?: string;
  readonly lenient?: string;
  readonly gates?: string;
  readonly logging?: string;
  readonly validation?: string;
  readonly writes?: string;
}

/** Loads and checks a file as a start of the proxy does, and returns the result of each step. */
function outcome(text: string): Outcome {
  try {
    const { configuration, lenient } = loadConfiguration(text);
    const completed = applyPlatformDefaults(configuration);
    const applied = applyFeatureGates(completed.featureGates);
    const gates = applied.kind === 'gates' ? applied.gates : defaultFeatureGates;
    const logging = validateLogging('logging', completed.logging, gates);
    const errors = validateConfiguration(completed);
    return {
      ...(lenient === undefined ? {} : { lenient }),
      ...(applied.kind === 'error' ? { gates: applied.message } : {}),
      ...(logging.length > 0 ? { logging: aggregate(logging) } : {}),
      ...(errors.length > 0 ? { validation: aggregate(errors) } : {}),
      ...writesOf(completed),
    };
  } catch (error) {
    if (error instanceof ConfigurationError) return { error: error.message };
    throw error;
  }
}

function writesOf(configuration: Configuration): Pick<Outcome, 'writes'> {
  const usual = new Set(encodeConfiguration(applyPlatformDefaults(defaultConfiguration())).split('\n'));
  const lines = encodeConfiguration(configuration)
    .split('\n')
    .filter(line => !usual.has(line));
  return lines.length > 0 ? { writes: `${lines.join('\n')}\n` } : {};
}

describe('recorded files', () => {
  interface Refused {
    readonly name: string;
    readonly config: string;
    readonly errors: readonly string[];
  }
  const refused: readonly Refused[] = parse(readFileSync('test/config-cases/refused.yaml', 'utf8'));
  for (const { name, config, errors } of refused) {
    test(`CONF-1 CONF-8 a file is refused with the error of kube-proxy: ${name}`, () => {
      const { error, gates, logging, validation } = outcome(config);
      const message =
        (error && `failed complete: ${error}`) ??
        (gates && `failed complete: ${gates}`) ??
        (logging && `initialize logging: ${logging}`) ??
        (validation && `failed validate: ${validation}`) ??
        'stat /nonexistent: no such file or directory';
      assert.equal(`"command failed" err=${goQuote(message)}`, errors.at(-1));
    });
  }

  const files: readonly (Outcome & { readonly config: string })[] = parse(
    readFileSync('test/config-cases/files.yaml', 'utf8'),
  );
  test('CONF-2 CONF-3 CONF-4 every recorded file has the same outcome as in kube-proxy', () => {
    assert.ok(files.length > 190);
    for (const { config, ...expected } of files) assert.deepEqual(outcome(config), expected, config);
  });
});

describe('reading', () => {
  test('CONF-2 YAML has the rules of Go: words for booleans, octal numbers, merged maps, only the first document', () => {
    const configuration = load(
      'enableProfiling: on\nbindAddressHardFail: no\n' +
        'oomScoreAdj: 010\nbase: &base {masqueradeAll: yes}\niptables:\n  <<: *base\n  masqueradeBit: 0x1f\n---\nmode: ipvs\n',
    );
    assert.equal(configuration.enableProfiling, true);
    assert.equal(configuration.bindAddressHardFail, false);
    assert.equal(configuration.linux.oomScoreAdj, 8);
    assert.equal(configuration.linux.masqueradeAll, true);
    assert.equal(configuration.iptables.masqueradeBit, 31);
    assert.equal(configuration.mode, '');
  });

  test('CONF-2 aliases cannot expand a file without limit', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]', ...'bcdefgh'].map((line, index) => {
      const before = String.fromCharCode(96 + index);
      return index === 0 ? line : `${line}: &${line} [${Array(10).fill(`*${before}`).join(',')}]`;
    });
    assert.deepEqual(outcome(`${HEAD}${bomb.join('\n')}\n`), {
      error: 'failed to decode: yaml: document contains excessive aliasing',
    });
    assert.deepEqual(outcome(`${HEAD}a: &a [*a]\n`), {
      error: "failed to decode: yaml: anchor 'a' value contains itself",
    });
    for (const text of ['a: &a {<<: *a}', 'a: &a {b: {<<: *a}}', 'a: &a {<<: [*a]}', 'a: &a [{<<: *a}]']) {
      assert.deepEqual(outcome(`${HEAD}${text}\n`), {
        error: "failed to decode: yaml: anchor 'a' value contains itself",
      });
    }
  });

  test('CONF-17 a file that is nested without end is refused with its place', () => {
    const limit = 'is nested deeper than 256 levels: remove the levels that the file does not need';
    const cases = [
      [`${HEAD}x: ${'['.repeat(100_000)}`, `yaml: line 3 column 259: ${limit}`],
      [`${HEAD}x: ${'{a: '.repeat(100_000)}`, `yaml: line 3 column 1024: ${limit}`],
      [`{\n"x": ${'['.repeat(100_000)}`, `couldn't get version/kind; json parse error: line 2 column 261: ${limit}`],
    ] as const;
    for (const [text, error] of cases) assert.deepEqual(outcome(text), { error: `failed to decode: ${error}` });
  });

  test('CONF-3 unknown and repeated fields do not fail, names are case-sensitive, and the last value of a field wins', () => {
    const { configuration, lenient } = loadConfiguration(`${HEAD}bindaddress: 10.0.0.1\nmode: ipvs\nmode: nftables\n`);
    assert.equal(configuration.bindAddress, '0.0.0.0');
    assert.equal(configuration.mode, 'nftables');
    const duplicate = 'yaml: unmarshal errors:\n  line 5: key "mode" already set in map';
    assert.equal(lenient, `strict decoding error: ${duplicate}, unknown field "bindaddress"`);
    assert.equal(loadConfiguration(HEAD).lenient, undefined);
  });

  test('CONF-4 the error names the first wrong type, or instead an invalid duration if the file has one', () => {
    assert.match(outcome(`${HEAD}oomScoreAdj: x\nmode: 5\n`).error ?? '', /KubeProxyConfiguration\.mode of type/);
    assert.deepEqual(outcome(`${HEAD}bindAddress: 5\nmode: 5\nipvs: {udpTimeout: 1d}\n`), {
      error: 'failed to decode: time: unknown unit "d" in duration "1d"',
    });
  });

  test('CONF-17 any text gives a configuration or a ConfigurationError', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'mode',
        'iptables',
        ': ',
        '\n',
        '  ',
        '- ',
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '&a',
        '*a',
        '<<',
        '|',
        '#',
      ),
      fc.constantFrom('\t', '? ', '!!int ', '---\n', '...', '%', '1s', '5', 'null', '\0', '\ud800', '\u2028', ','),
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(piece), (withHead, pieces) => {
        outcome((withHead ? HEAD : '') + pieces.join(''));
      }),
      { numRuns: 300 },
    );
  });
});

describe('defaults', () => {
  test('CONF-5 an empty file gives the defaults', () => {
    assert.deepEqual(load(''), defaultConfiguration());
    assert.deepEqual(
      load('iptables: null\nlogging: null\noomScoreAdj: null\nfeatureGates: null\n'),
      defaultConfiguration(),
    );
  });

  test('CONF-5 a zero stays in fields that can be undefined; in other fields it becomes the default', () => {
    const zeros = load(
      'iptables: {masqueradeBit: 0, localhostNodePorts: false, syncPeriod: 0s, minSyncPeriod: 0s}\n' +
        'conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}\n' +
        'oomScoreAdj: 0\nconfigSyncPeriod: 0s\nclientConnection: {qps: 0, burst: 0, contentType: ""}\n',
    );
    const usual = defaultConfiguration();
    assert.deepEqual(zeros, {
      ...usual,
      iptables: { masqueradeBit: 0, localhostNodePorts: false },
      linux: {
        ...usual.linux,
        oomScoreAdj: 0,
        conntrack: {
          ...usual.linux.conntrack,
          maxPerCore: 0,
          min: 0,
          tcpEstablishedTimeout: 0n,
          tcpCloseWaitTimeout: 0n,
        },
      },
    });
  });

  test('CONF-5 the default addresses are IPv4 if the bind address is, and IPv6 otherwise', () => {
    const addresses = (bind: string) => {
      const { healthzBindAddress, metricsBindAddress } = load(`bindAddress: "${bind}"\n`);
      return [healthzBindAddress, metricsBindAddress];
    };
    assert.deepEqual(addresses('10.0.0.1'), ['0.0.0.0:10256', '127.0.0.1:10249']);
    for (const bind of ['::', 'fd00::1', '[::]', 'nonsense']) {
      assert.deepEqual(addresses(bind), ['[::]:10256', '[::1]:10249'], bind);
    }
  });

  test('CONF-5 an IP address without a port gets the default port; other texts stay as they are', () => {
    const healthz = (address: string) => load(`healthzBindAddress: "${address}"\n`).healthzBindAddress;
    assert.equal(healthz('10.0.0.1'), '10.0.0.1:10256');
    assert.equal(healthz('fd00::5'), '[fd00::5]:10256');
    for (const address of ['10.0.0.1:80', '[fd00::5]:80', '[fd00::5]', ':10256', 'nope']) {
      assert.equal(healthz(address), address);
    }
    assert.equal(healthz(''), '0.0.0.0:10256', 'a file cannot switch the health server off');
  });

  test('CONF-5 the default of minSyncPeriod is one second, but 0 in ipvs mode', () => {
    assert.equal(load('mode: iptables\n').minSyncPeriod, 1_000_000_000n);
    assert.equal(load('mode: nftables\n').minSyncPeriod, 1_000_000_000n);
    assert.equal(load('mode: ipvs\n').minSyncPeriod, 0n);
    assert.equal(load('mode: ipvs\n').syncPeriod, 30_000_000_000n);
  });

  test('CONF-6 periods and masqueradeAll come from the section of the mode', () => {
    const sections =
      'iptables: {syncPeriod: 1m, minSyncPeriod: 2s, masqueradeAll: true}\n' +
      'ipvs: {syncPeriod: 2m, minSyncPeriod: 3s}\nnftables: {syncPeriod: 3m, minSyncPeriod: 4s}\n';
    const of = (mode: string) => {
      const { syncPeriod, minSyncPeriod, linux } = load(`mode: "${mode}"\n${sections}`);
      return [syncPeriod / 60_000_000_000n, minSyncPeriod / 1_000_000_000n, linux.masqueradeAll];
    };
    assert.deepEqual(of(''), [1n, 2n, true]);
    assert.deepEqual(of('iptables'), [1n, 2n, true]);
    assert.deepEqual(of('userspace'), [1n, 2n, true]);
    assert.deepEqual(of('ipvs'), [2n, 3n, true]);
    assert.deepEqual(of('nftables'), [3n, 4n, false]);
  });

  test('CONF-41 ebpf mode uses the section nftables', () => {
    const nftables = '{syncPeriod: 3m, minSyncPeriod: 4s, masqueradeAll: true, masqueradeBit: 5}';
    const { syncPeriod, minSyncPeriod, linux, ...rest } = load(`mode: ebpf\nnftables: ${nftables}\n`);
    assert.deepEqual([syncPeriod / 60_000_000_000n, minSyncPeriod / 1_000_000_000n], [3n, 4n]);
    const configuration = { syncPeriod, minSyncPeriod, linux, ...rest };
    assert.deepEqual([linux.masqueradeAll, masqueradeBitOf(configuration)], [true, 5]);
    assert.deepEqual(applyPlatformDefaults(configuration).nodePortAddresses, ['primary']);
  });

  test('CONF-6 clusterCIDR is split at commas and not trimmed', () => {
    assert.deepEqual(load('clusterCIDR: ""\n').detectLocal.clusterCIDRs, []);
    assert.deepEqual(load('clusterCIDR: "10.0.0.0/8, fd00::/8"\n').detectLocal.clusterCIDRs, [
      '10.0.0.0/8',
      ' fd00::/8',
    ]);
  });

  test('CONF-7 platform defaults set mode, detectLocalMode and, in nftables mode, nodePortAddresses', () => {
    const completed = applyPlatformDefaults(load(''));
    assert.equal(completed.mode, 'iptables');
    assert.equal(completed.detectLocalMode, 'ClusterCIDR');
    assert.equal(completed.nodePortAddresses, undefined);
    const addresses = (text: string) => applyPlatformDefaults(load(text)).nodePortAddresses;
    assert.deepEqual(addresses('mode: nftables\n'), ['primary']);
    assert.deepEqual(addresses('mode: nftables\nnodePortAddresses: []\n'), ['primary']);
    assert.deepEqual(addresses('mode: nftables\nnodePortAddresses: [10.0.0.0/8]\n'), ['10.0.0.0/8']);
    assert.deepEqual(addresses('mode: ipvs\nnodePortAddresses: []\n'), []);
  });
});
