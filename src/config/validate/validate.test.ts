import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Configuration, defaultConfiguration } from '../index.ts';
import { aggregate, fieldErrorText, validateConfiguration, validateLogging } from './index.ts';

type Change = (usual: Configuration) => Partial<Configuration>;

const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** Faults, at least one for each rule, in the order in which validation reports them. */
const FAULTS: readonly [fault: string, change: Change, message: string][] = [
  [
    'an unknown feature gate',
    () => ({ featureGates: new Map([['Nope', true]]) }),
    'featureGates: Invalid value: {"Nope":true}: unrecognized feature gate: Nope',
  ],
  [
    'a masquerade bit of iptables that is out of range, in every mode',
    () => ({ mode: 'userspace', iptables: { masqueradeBit: 32, localhostNodePorts: true } }),
    'KubeProxyIPTablesConfiguration.MasqueradeBit: Invalid value: 32: must be within the range [0, 31]',
  ],
  [
    'a port range of userspace mode that ends before it begins',
    ({ userspace }) => ({ mode: 'userspace', userspace: { ...userspace, portRange: '60999-32768' } }),
    'PortRange: Invalid value: "60999-32768": must be a port, or a range such as 32768-60999 or 32768+100',
  ],
  [
    'a udpIdleTimeout of 0 in userspace mode',
    ({ userspace }) => ({ mode: 'userspace', userspace: { ...userspace, udpIdleTimeout: 0n } }),
    'UDPIdleTimeout: Invalid value: "0s": must be greater than 0',
  ],
  ...(['tcpTimeout', 'tcpFinTimeout', 'udpTimeout'] as const).map((field): [string, Change, string] => {
    const name = { tcpTimeout: 'TCPTimeout', tcpFinTimeout: 'TCPFinTimeout', udpTimeout: 'UDPTimeout' }[field];
    return [
      `a negative ${field} of ipvs`,
      ({ ipvs }) => ({ mode: 'ipvs', ipvs: { ...ipvs, [field]: -1n } }),
      `KubeProxyIPVSConfiguration.${name}: Invalid value: "-1ns": ${NOT_NEGATIVE}`,
    ];
  }),
  [
    'an entry of excludeCIDRs that is not a CIDR',
    ({ ipvs }) => ({ mode: 'ipvs', ipvs: { ...ipvs, excludeCIDRs: ['10.0.0.0/8', '10.0.0.1'] } }),
    'KubeProxyIPVSConfiguration.ExcludeCidrs[1]: Invalid value: "10.0.0.1": must be a valid CIDR',
  ],
  [
    'a masquerade bit of nftables that is out of range',
    () => ({ mode: 'nftables', nftables: { masqueradeBit: -1 } }),
    'KubeProxyNFTablesConfiguration.MasqueradeBit: Invalid value: -1: must be within the range [0, 31]',
  ],
  ...conntrackRules(),
  [
    'an oomScoreAdj that is out of range',
    ({ linux }) => ({ linux: { ...linux, oomScoreAdj: -1001 } }),
    'KubeProxyLinuxConfiguration.OOMScoreAdj: Invalid value: -1001: must be within the range [-1000, 1000]',
  ],
  [
    'an unknown mode',
    () => ({ mode: 'fancy' }),
    'Mode.ProxyMode: Invalid value: "fancy": must be iptables, ipvs, nftables or blank (blank means the best-available proxy [currently iptables])',
  ],
  [
    'a negative burst',
    ({ clientConnection }) => ({ clientConnection: { ...clientConnection, burst: -1 } }),
    `ClientConnection.Burst: Invalid value: -1: ${NOT_NEGATIVE}`,
  ],
  [
    'a configSyncPeriod of 0',
    () => ({ configSyncPeriod: 0n }),
    'ConfigSyncPeriod: Invalid value: "0s": must be greater than 0',
  ],
  [
    'a syncPeriod of 0',
    () => ({ syncPeriod: 0n, minSyncPeriod: 0n }),
    'SyncPeriod: Invalid value: "0s": must be greater than 0',
  ],
  ['a negative minSyncPeriod', () => ({ minSyncPeriod: -1n }), `MinSyncPeriod: Invalid value: "-1ns": ${NOT_NEGATIVE}`],
  [
    'a minSyncPeriod above syncPeriod, and shows minSyncPeriod',
    () => ({ minSyncPeriod: 31_000_000_000n }),
    'SyncPeriod: Invalid value: "31s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
  ],
  [
    'a bindAddress that is not an IP address',
    () => ({ bindAddress: '[::]' }),
    'BindAddress: Invalid value: "[::]": not a valid textual representation of an IP address',
  ],
  ...addressRules('healthzBindAddress', 'HealthzBindAddress'),
  ...addressRules('metricsBindAddress', 'MetricsBindAddress'),
  [
    'an empty metricsBindAddress',
    () => ({ metricsBindAddress: '' }),
    'MetricsBindAddress: Invalid value: "": must be IP:port',
  ],
  [
    'an entry of nodePortAddresses that is not a CIDR',
    () => ({ nodePortAddresses: ['10.0.0.0/8', '10.0.0.0/33'] }),
    `NodePortAddresses[1]: Invalid value: "10.0.0.0/33": must be a valid CIDR or one of the keywords 'primary', 'localhost', 'all'`,
  ],
  [
    'a word of nodePortAddresses that is no keyword',
    () => ({ nodePortAddresses: ['primary', 'nonsense', '10.0.0.0/8'] }),
    `NodePortAddresses[1]: Invalid value: "nonsense": must be a valid CIDR or one of the keywords 'primary', 'localhost', 'all'`,
  ],
  [
    'a keyword that is in nodePortAddresses twice',
    () => ({ nodePortAddresses: ['all', '10.0.0.0/8', 'localhost', 'primary', '10.0.0.0/8', 'all'] }),
    `NodePortAddresses[5]: Duplicate value: "all"`,
  ],
  [
    'a showHiddenMetricsForVersion that is not the previous version',
    () => ({ showHiddenMetricsForVersion: '1.37' }),
    `ShowHiddenMetricsForVersion: Invalid value: "1.37": invalid showHiddenMetricsForVersion: showHiddenMetricsForVersion: Invalid value: "1.37": must be omitted or have the value '1.36'; only the previous minor version is allowed`,
  ],
  [
    'an unknown detectLocalMode',
    () => ({ detectLocalMode: 'Guess' }),
    'DetectLocalMode: Unsupported value: "Guess": supported values: "ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix", ""',
  ],
  [
    'an empty bridgeInterface in mode BridgeInterface',
    () => ({ detectLocalMode: 'BridgeInterface' }),
    'DetectLocalConfiguration.InterfaceName: Invalid value: "": must not be empty',
  ],
  [
    'an empty interfaceNamePrefix in mode InterfaceNamePrefix',
    () => ({ detectLocalMode: 'InterfaceNamePrefix' }),
    'DetectLocalConfiguration.InterfacePrefix: Invalid value: "": must not be empty',
  ],
  [
    'a clusterCIDR that is not a CIDR',
    clusterCidrs('10.0.0.0/8', ' fd00::/8'),
    'DetectLocalConfiguration.ClusterCIDRs[1]: Invalid value: " fd00::/8": must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)',
  ],
  [
    'an empty --cluster-cidr flag',
    clusterCidrs(''),
    'DetectLocalConfiguration.ClusterCIDRs[0]: Invalid value: "": must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)',
  ],
  ...[clusterCidrs('10.0.0.0/8', '11.0.0.0/8'), clusterCidrs('a', 'b', 'c')].map((change): [string, Change, string] => [
    'two CIDRs of one family in clusterCIDR, or more than two',
    change,
    `DetectLocalConfiguration.ClusterCIDRs: Invalid value: ${JSON.stringify(change(defaultConfiguration()).detectLocal?.clusterCIDRs)}: must be a either a single CIDR or dual-stack pair of CIDRs (e.g. [10.100.0.0/16, fde4:8dba:82e1::/48]`,
  ]),
  [
    'an unknown log format',
    ({ logging }) => ({ logging: { ...logging, format: 'xml' } }),
    'logging.format: Invalid value: "xml": Unsupported log format',
  ],
];

function conntrackRules(): [string, Change, string][] {
  const names = {
    maxPerCore: ['MaxPerCore', -1],
    min: ['Min', -1],
    tcpEstablishedTimeout: ['TCPEstablishedTimeout', -1n],
    tcpCloseWaitTimeout: ['TCPCloseWaitTimeout', -1n],
    udpTimeout: ['UDPTimeout', -1n],
    udpStreamTimeout: ['UDPStreamTimeout', -1n],
  } as const;
  return Object.entries(names).map(([field, [name, value]]) => [
    `a negative ${field} of conntrack`,
    ({ linux }) => ({ linux: { ...linux, conntrack: { ...linux.conntrack, [field]: value } } }),
    `KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration.${name}: Invalid value: ${value === -1 ? '-1' : '"-1ns"'}: ${NOT_NEGATIVE}`,
  ]);
}

function addressRules(field: 'healthzBindAddress' | 'metricsBindAddress', name: string): [string, Change, string][] {
  const rule = (value: string, shown: string, detail: string): [string, Change, string] => [
    `the ${field} ${value}`,
    () => ({ [field]: value }),
    `${name}: Invalid value: "${shown}": ${detail}`,
  ];
  return [
    rule('[fd00::5]', '[fd00::5]', 'must be IP:port'),
    rule('nope:1', 'nope', 'must be a valid IP'),
    rule(':10256', '', 'must be a valid IP'),
    rule('10.0.0.1:0', '0', 'must be a valid port'),
    rule('10.0.0.1:65536', '65536', 'must be a valid port'),
    rule('10.0.0.1:http', 'http', 'must be a valid port'),
  ];
}

function clusterCidrs(...cidrs: string[]): Change {
  return ({ detectLocal }) => ({
    detectLocalMode: 'ClusterCIDR',
    detectLocal: { ...detectLocal, clusterCIDRs: cidrs },
  });
}

function errorsOf(change: Change): string[] {
  const usual = defaultConfiguration();
  return validateConfiguration({ ...usual, ...change(usual) }).map(fieldErrorText);
}

for (const [fault, change, message] of FAULTS) {
  test(`CONF-8 validation refuses ${fault}`, () => {
    assert.deepEqual(errorsOf(change), [`KubeProxyConfiguration.${message}`]);
  });
}

/** These faults can occur together: they concern different fields, and only one sets the mode. */
const INDEPENDENT_FAULTS =
  /feature gate|bit of iptables|of conntrack|oomScoreAdj|burst|configSync|a bindAddress|showHidden|unknown detectLocal|log format/;

test('CONF-8 validation reports all errors at once, always in the same order', () => {
  const expected: string[] = [];
  let all = defaultConfiguration();
  for (const [fault, change, message] of FAULTS) {
    if (!INDEPENDENT_FAULTS.test(fault)) continue;
    all = { ...all, ...change(all) };
    expected.push(`KubeProxyConfiguration.${message}`);
  }
  assert.deepEqual(validateConfiguration(all).map(fieldErrorText), expected);
  assert.equal(aggregate(validateConfiguration(all)), `[${expected.join(', ')}]`);
});

test('CONF-8 a negative syncPeriod causes two errors', () => {
  assert.deepEqual(
    errorsOf(() => ({ syncPeriod: -1_000_000_000n })),
    [
      'KubeProxyConfiguration.SyncPeriod: Invalid value: "-1s": must be greater than 0',
      'KubeProxyConfiguration.SyncPeriod: Invalid value: "1s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
    ],
  );
});

test('CONF-8 the text of several errors has brackets, and no error twice', () => {
  assert.equal(aggregate(['a']), 'a');
  assert.equal(aggregate(['a', 'b', 'a']), '[a, b]');
  assert.equal(aggregate(['a', 'a']), 'a');
});

test('CONF-9 fields that the mode does not use are not checked', () => {
  assert.deepEqual(
    errorsOf(({ ipvs }) => ({ ipvs: { ...ipvs, tcpTimeout: -1n, excludeCIDRs: ['x'] } })),
    [],
  );
  assert.deepEqual(
    errorsOf(() => ({ mode: 'ipvs', nftables: { masqueradeBit: 99 } })),
    [],
  );
  assert.deepEqual(
    errorsOf(usual => ({ ...clusterCidrs('x', 'y', 'z')(usual), detectLocalMode: 'NodeCIDR' })),
    [],
  );
  assert.deepEqual(errorsOf(clusterCidrs()), []);
  assert.deepEqual(
    errorsOf(() => ({ healthzBindAddress: '' })),
    [],
  );
});

test('CONF-37 showHiddenMetricsForVersion is the version before v1.36 or before v1.37', () => {
  for (const showHiddenMetricsForVersion of ['', '1.35', '1.36']) {
    assert.deepEqual(
      errorsOf(() => ({ showHiddenMetricsForVersion })),
      [],
    );
  }
});

test('CONF-38 nodePortAddresses is a free mix of CIDRs and keywords', () => {
  for (const nodePortAddresses of [
    ['localhost'],
    ['10.0.0.0/8', 'all', 'fd00::/8', 'primary', '127.0.0.0/8', 'localhost'],
    ['10.0.0.0/8', '10.0.0.0/8'],
  ]) {
    assert.deepEqual(
      errorsOf(() => ({ nodePortAddresses })),
      [],
    );
  }
});

test('CONF-39 without the gate KubeProxyIPVS, ipvs is no mode', () => {
  const errors = (mode: string) => errorsOf(() => ({ mode, featureGates: new Map([['KubeProxyIPVS', false]]) }));
  assert.deepEqual(errors('ipvs'), [
    'KubeProxyConfiguration.Mode.ProxyMode: Invalid value: "ipvs": must be iptables, nftables or blank (blank means the best-available proxy [currently iptables])',
  ]);
  for (const mode of ['', 'iptables', 'nftables', 'userspace']) assert.deepEqual(errors(mode), []);
});

test('CONF-41 ebpf is a mode, and its masquerade bit is the one of the section nftables', () => {
  assert.deepEqual(
    errorsOf(() => ({ mode: 'ebpf' })),
    [],
  );
  assert.deepEqual(
    errorsOf(() => ({ mode: 'ebpf', nftables: { masqueradeBit: 32 } })),
    errorsOf(() => ({ mode: 'nftables', nftables: { masqueradeBit: 32 } })),
  );
});

test('CONF-9 valid values pass', () => {
  for (const mode of ['', 'iptables', 'ipvs', 'nftables'])
    assert.deepEqual(
      errorsOf(() => ({ mode })),
      [],
    );
  assert.deepEqual(
    errorsOf(() => ({ bindAddress: '010.0.0.1', healthzBindAddress: '[::]:+80' })),
    [],
  );
  assert.deepEqual(
    errorsOf(() => ({ nodePortAddresses: ['primary'], showHiddenMetricsForVersion: '1.35' })),
    [],
  );
  assert.deepEqual(errorsOf(clusterCidrs('fd00::5/8', '10.20.30.40/16')), []);
});

test('CONF-10 userspace is a valid mode', () => {
  assert.deepEqual(
    errorsOf(() => ({ mode: 'userspace' })),
    [],
  );
});

test('CONF-11 the logging section is also checked by itself, when logging is set up', () => {
  const { logging } = defaultConfiguration();
  const check = (change: Partial<typeof logging>, gates: Readonly<Record<string, boolean>> = {}) =>
    validateLogging('logging', { ...logging, ...change }, { enabled: new Map(Object.entries(gates)) }).map(
      fieldErrorText,
    );
  assert.deepEqual(check({ flushFrequency: 0n }), [
    'logging.flushFrequency: Invalid value: "0s": Must be greater than zero',
  ]);
  assert.deepEqual(check({ flushFrequency: -5n, flushFrequencyIsNumber: true }), [
    'logging.flushFrequency: Invalid value: -5: Must be greater than zero',
  ]);
  assert.deepEqual(check({ format: 'xml' }), ['logging.format: Invalid value: "xml": Unsupported log format']);
  assert.deepEqual(check({ format: 'json' }), []);
  assert.deepEqual(check({ format: 'json' }, { LoggingBetaOptions: false }), [
    'logging.format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature',
  ]);
  assert.deepEqual(check({ verbosity: 2 ** 31 }), [
    'logging.verbosity: Invalid value: 2147483648: Must be <= 2147483647',
  ]);
  assert.deepEqual(check({ format: 'json', vmodule: [{ filePattern: 'a', verbosity: 1 }] }), [
    'logging.vmodule: Forbidden: Only supported for text log format',
  ]);
  assert.deepEqual(
    check({
      vmodule: [
        { filePattern: '', verbosity: 1 },
        { filePattern: 'a=b', verbosity: 2 ** 31 },
      ],
    }),
    [
      'logging.vmodule[0]: Required value: File pattern must not be empty',
      'logging.vmodule[1]: Invalid value: "a=b": File pattern must not contain equal sign or comma',
      'logging.vmodule[1]: Invalid value: 2147483648: Must be <= 2147483647',
    ],
  );
  const options = {
    text: { splitStream: true, infoBufferSize: '0' },
    json: { splitStream: false, infoBufferSize: '1k' },
  };
  assert.deepEqual(check({ options }), [
    'logging.options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled',
    'logging.options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled',
  ]);
  assert.deepEqual(check({ options }, { LoggingAlphaOptions: true }), []);
});
