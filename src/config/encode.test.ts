import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import {
  applyPlatformDefaults,
  configurationObject,
  defaultConfiguration,
  encodeConfiguration,
  loadConfiguration,
} from './index.ts';

interface Recorded {
  readonly name: string;
  readonly written?: string;
  readonly configz?: string;
}

const recorded: readonly Recorded[] = parse(readFileSync('test/config-cases/written.yaml', 'utf8'));
const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

test('CONF-12 the written defaults are those that kube-proxy writes', () => {
  const expected = recorded.find(({ name }) => name === 'defaults')?.written;
  assert.equal(encodeConfiguration(applyPlatformDefaults(defaultConfiguration())), expected);
});

for (const { name, written, configz } of recorded) {
  if (written !== undefined) {
    test(`CONF-12 loading and writing a file of kube-proxy does not change it: ${name}`, () => {
      const { configuration, lenient } = loadConfiguration(written);
      assert.equal(lenient, undefined);
      assert.equal(encodeConfiguration(configuration), written);
    });
  }
  if (configz !== undefined) {
    test(`CONF-13 /configz has the fields in the order of upstream: ${name}`, () => {
      const [shown] = Object.values<object>(JSON.parse(configz));
      const { configuration } = loadConfiguration(JSON.stringify(shown));
      assert.equal(JSON.stringify({ 'kubeproxy.config.k8s.io': configurationObject(configuration) }), configz.trim());
    });
  }
}

test('CONF-12 only the periods of the mode are written, and portRange is dropped', () => {
  const { configuration } = loadConfiguration(
    `${HEAD}mode: ipvs\nportRange: 1-2\niptables: {syncPeriod: 1m, masqueradeAll: true}\n`,
  );
  const lines = encodeConfiguration(configuration).split('\n');
  assert.ok(lines.includes('portRange: ""'));
  const periods = lines.filter(line => /yncPeriod/.test(line)).map(line => line.trim());
  const expected = [
    'configSyncPeriod: 15m0s',
    'minSyncPeriod: 0s',
    'syncPeriod: 0s',
    'minSyncPeriod: 0s',
    'syncPeriod: 30s',
  ];
  assert.deepEqual(periods, [...expected, 'minSyncPeriod: 0s', 'syncPeriod: 0s']);
  assert.deepEqual(
    lines.filter(line => /masqueradeAll/.test(line)),
    ['  masqueradeAll: true', '  masqueradeAll: false'],
  );
});

test('CONF-12 a mode without a section of its own writes to the section of iptables', () => {
  const { configuration } = loadConfiguration(
    `${HEAD}mode: userspace\niptables: {syncPeriod: 1m, masqueradeAll: true}\n`,
  );
  assert.match(
    encodeConfiguration(configuration),
    /iptables:\n {2}localhostNodePorts: true\n {2}masqueradeAll: true\n {2}masqueradeBit: 14\n {2}minSyncPeriod: 1s\n {2}syncPeriod: 1m0s\n/,
  );
});

test('CONF-12 texts have the quotes that Go gives them', () => {
  const cases: readonly [text: string, written: string][] = [
    ['', '""'],
    ['::', "'::'"],
    ['fd00::1', 'fd00::1'],
    ['0', '"0"'],
    ['010', '"010"'],
    ['1_000', '"1_000"'],
    ['1e3', '"1e3"'],
    ['0x1f', '"0x1f"'],
    ['1.5', '"1.5"'],
    ['.inf', '".inf"'],
    ['yes', '"yes"'],
    ['n', '"n"'],
    ['~', '"~"'],
    ['null', '"null"'],
    ['2024-1-2', '"2024-1-2"'],
    ['2024-13-2', '2024-13-2'],
    ['12:30', '"12:30"'],
    ['a b', 'a b'],
    ['a: b', "'a: b'"],
    ['a #b', "'a #b'"],
    ["it's", "it's"],
    ["'it", "'''it'"],
    [' a', "' a'"],
    ['- a', "'- a'"],
    ['-a', '-a'],
    ['---', "'---'"],
    ['*', "'*'"],
    ['<<', '<<'],
    ['\t', '"\\t"'],
    ['a\x01', '"a\\x01"'],
    ['é', 'é'],
    ['😀', '"\\U0001F600"'],
    ['a\nb', '|-\n  a\n  b'],
    ['a\n', '|\n  a'],
    ['\na\n\n', '|2+\n\n  a\n'],
    ['a \nb', '"a \\nb"'],
    ['a\u2028b', '"a\\Lb"'],
    [`${'a'.repeat(62)} b`, `${'a'.repeat(62)} b`],
    [`${'a'.repeat(63)} b`, `${'a'.repeat(63)}\n  b`],
    [`${'a'.repeat(63)}  b c`, `${'a'.repeat(63)}  b\n  c`],
    [`#${'a'.repeat(61)} b`, `'#${'a'.repeat(61)}\n  b'`],
    [`\t${'a'.repeat(60)}  b`, `"\\t${'a'.repeat(60)}\n  \\ b"`],
    [`\t${'a'.repeat(60)} `, `"\\t${'a'.repeat(60)} "`],
  ];
  const base = defaultConfiguration();
  for (const [hostnameOverride, written] of cases) {
    const text = encodeConfiguration({ ...base, hostnameOverride });
    const found = text.slice(text.indexOf('hostnameOverride: ') + 18, text.indexOf('\niptables:'));
    assert.equal(found, written, JSON.stringify(hostnameOverride));
  }
});

test('CONF-12 long lines are folded in every part of the file', () => {
  const base = defaultConfiguration();
  const words = 'word '.repeat(20).trim();
  const written = encodeConfiguration({
    ...base,
    nodePortAddresses: [words],
    clientConnection: { ...base.clientConnection, acceptContentTypes: words },
    logging: { ...base.logging, vmodule: [{ filePattern: words, verbosity: 1 }] },
  });
  const times = (count: number) => 'word '.repeat(count).trim();
  assert.ok(written.includes(`  acceptContentTypes: ${times(12)}\n    ${times(8)}\n`));
  assert.ok(written.includes(`- ${times(16)}\n  ${times(4)}\n`));
  assert.ok(written.includes(`  - filePattern: ${times(13)}\n      ${times(7)}\n`));
});

test('CONF-12 a number that JSON does not have cannot be written', () => {
  const base = defaultConfiguration();
  const cases: readonly [qps: number, shown: string][] = [
    [Number.NaN, 'NaN'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
  ];
  for (const [qps, shown] of cases) {
    const configuration = { ...base, clientConnection: { ...base.clientConnection, qps } };
    assert.throws(() => encodeConfiguration(configuration), { message: `json: unsupported value: ${shown}` });
  }
});

test('CONF-12 numbers have the form that Go gives them', () => {
  const qps = (text: string) => {
    const { configuration } = loadConfiguration(`${HEAD}clientConnection: {qps: ${text}}\n`);
    return /qps: (.*)/.exec(encodeConfiguration(configuration))?.[1];
  };
  const cases = ['5', '-1', '0.1', '123456.79', '1.2345675e+06', '1e-05', '1e+20', '16777216'];
  for (const text of cases) assert.equal(qps(text), text);
  assert.equal(qps('1e6'), '1000000');
});

test('CONF-12 CONF-5 any configuration is the same after writing and reading', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(' ', '\n', ':', '#', '-', "'", '"', 'a', '1', '\t') }),
  );
  const duration = fc
    .bigInt({ min: 1n, max: 2n ** 62n })
    .map(seconds => (seconds / 1_000_000_000n + 1n) * 1_000_000_000n);
  const usual = applyPlatformDefaults(defaultConfiguration());
  const configuration = fc.record({
    hostnameOverride: text,
    mode: fc.constantFrom('iptables', 'ipvs', 'nftables', 'ebpf', 'userspace'),
    featureGates: fc
      .array(fc.tuple(fc.constantFrom('A2', 'A10', 'AB', 'b', 'ä'), fc.boolean()))
      .map(gates => new Map(gates.sort())),
    nodePortAddresses: fc.option(fc.array(text), { nil: undefined }),
    syncPeriod: duration,
    minSyncPeriod: duration,
    clientConnection: fc.record({
      kubeconfig: text,
      acceptContentTypes: text,
      contentType: fc.constant('x'),
      qps: fc.float({ noNaN: true, noDefaultInfinity: true }).filter(qps => qps !== 0),
      burst: fc.integer({ min: 1 }),
    }),
    logging: fc.record({
      format: fc.constant('json'),
      flushFrequency: duration,
      verbosity: fc.nat(),
      vmodule: fc.array(fc.tuple(text, fc.nat()).map(([filePattern, verbosity]) => ({ filePattern, verbosity }))),
      options: fc.constant(usual.logging.options),
    }),
  });
  fc.assert(
    fc.property(configuration, changes => {
      const wanted = {
        ...usual,
        ...changes,
        clientConnection: { ...changes.clientConnection },
        logging: { ...changes.logging },
      };
      const written = encodeConfiguration(wanted);
      const { configuration: read, lenient } = loadConfiguration(written);
      assert.equal(lenient, undefined);
      assert.deepEqual(read, wanted);
      assert.equal(encodeConfiguration(read), written);
    }),
    { numRuns: 60 },
  );
});
