import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { node } from '../../test/support/objects.ts';
import { type Family, type Ip, parseIp } from '../net/index.ts';
import { checkFamilies, checkNodePortAddresses, type FamilyConfig } from './family-checks.ts';
import { chooseLocalDetectors, type LocalDetectorConfig } from './local-detector.ts';
import { detectNodeIPs, nodeNameFrom, rawNodeIPs, zoneOf } from './node.ts';
import { parseNodePortAddresses, resolvePrimary, selectNodePortIPs } from './node-port-addresses.ts';

describe('the node', () => {
  test('MODEL-17 its name is the override or the host name, trimmed, in lower case', () => {
    assert.equal(nodeNameFrom('', 'Host '), 'host');
    assert.equal(nodeNameFrom(' Node-A', 'host'), 'node-a');
    assert.equal(nodeNameFrom(' ', 'host'), undefined);
  });

  test('MODEL-17 its zone is the label, empty without one', () => {
    assert.equal(zoneOf(node('n', { labels: { 'topology.kubernetes.io/zone': 'z' } })), 'z');
    assert.equal(zoneOf(node('n', { labels: { 'topology.kubernetes.io/region': 'r' } })), '');
    assert.equal(zoneOf(undefined), '');
  });

  test('MODEL-17 its raw addresses: internal before external, the first and the first of the other family', () => {
    const ips = (internalIPs: string[], externalIPs: string[]) => rawNodeIPs(node('n', { internalIPs, externalIPs }));
    assert.deepEqual(ips(['10.0.0.1', '10.0.0.2', 'fd00::1'], ['1.2.3.4']), ['10.0.0.1', 'fd00::1']);
    assert.deepEqual(ips(['bad', 'fd00::1'], ['1.2.3.4', '2001::1']), ['fd00::1', '1.2.3.4']);
    assert.deepEqual(ips([], []), []);
    assert.deepEqual(rawNodeIPs(undefined), []);
  });

  // node's addresses, bind address → primary, IPv4, IPv6
  const detections: [string[], string, Family, string, string][] = [
    [[], '10.0.0.1', 'IPv4', '10.0.0.1', '::1'],
    [[], 'fd00:4321::2', 'IPv6', '127.0.0.1', 'fd00:4321::2'],
    [[], '', 'IPv4', '127.0.0.1', '::1'],
    [[], '0.0.0.0', 'IPv4', '127.0.0.1', '::1'],
    [[], '::', 'IPv4', '127.0.0.1', '::1'],
    [['192.168.1.1'], '::', 'IPv4', '192.168.1.1', '::1'],
    [['fd00:1234::1'], '0.0.0.0', 'IPv6', '127.0.0.1', 'fd00:1234::1'],
    [['2001:db8::2', '90.90.90.90'], '80.80.80.80', 'IPv4', '80.80.80.80', '2001:db8::2'],
    [['90.90.90.90', '2001:db8::2'], '::1', 'IPv6', '90.90.90.90', '::1'],
    [['2001:db8::2', '90.90.90.90'], '', 'IPv6', '90.90.90.90', '2001:db8::2'],
  ];
  for (const [internalIPs, bind, primary, v4, v6] of detections) {
    test(`MODEL-17 addresses ${internalIPs.join(', ') || 'unknown'}, bound to ${bind || 'nothing'}: ${primary} first`, () =>
      assert.deepEqual(detectNodeIPs(node('n', { internalIPs }), bind), { primary, IPv4: v4, IPv6: v6 }));
  }
});

describe('addresses for node ports', () => {
  const ips = (...texts: string[]) => texts.map(text => parseIp(text)).filter((ip): ip is Ip => ip !== undefined);
  const own = ips('10.0.0.1', '127.0.0.1', '192.168.1.1', '192.168.1.1', 'fd00::1', '::1', '2001:db8::1');
  const cases: [string, string[], string[], string[]][] = [
    ['an empty list', [], ['10.0.0.1', '127.0.0.1', '192.168.1.1'], ['fd00::1', '::1', '2001:db8::1']],
    ['IPv4 single', ['10.0.0.0/8'], ['10.0.0.1'], ['fd00::1', '::1', '2001:db8::1']],
    ['IPv4 all', ['0.0.0.0/0'], ['10.0.0.1', '127.0.0.1', '192.168.1.1'], ['fd00::1', '::1', '2001:db8::1']],
    [
      'IPv6 several',
      ['fd00::/16', '2001:db8::/64'],
      ['10.0.0.1', '127.0.0.1', '192.168.1.1'],
      ['fd00::1', '2001:db8::1'],
    ],
    ['localhost', ['127.0.0.1/32'], ['127.0.0.1'], ['fd00::1', '::1', '2001:db8::1']],
    ['no match', ['172.16.0.0/12'], [], ['fd00::1', '::1', '2001:db8::1']],
    [
      'redundant with all',
      ['1.2.3.0/24', '0.0.0.0/0'],
      ['10.0.0.1', '127.0.0.1', '192.168.1.1'],
      ['fd00::1', '::1', '2001:db8::1'],
    ],
    [
      'both families',
      ['0.0.0.0/0', '1.2.3.0/24', '2001:db8::1/128'],
      ['10.0.0.1', '127.0.0.1', '192.168.1.1'],
      ['2001:db8::1'],
    ],
    ['redundant IPv6', ['::/0', '1.2.3.0/24', '2001:db8::1/128'], [], ['fd00::1', '::1', '2001:db8::1']],
  ];
  for (const [what, cidrs, want4, want6] of cases) {
    test(`MODEL-18 ${what}`, () => {
      assert.deepEqual(selectNodePortIPs(parseNodePortAddresses('IPv4', cidrs), own), want4);
      assert.deepEqual(selectNodePortIPs(parseNodePortAddresses('IPv6', cidrs), own), want6);
    });
  }

  const loopback: [string[], boolean, boolean][] = [
    [[], true, true],
    [['0.0.0.0/0'], true, true],
    [['10.0.0.0/8'], false, false],
    [['127.0.0.0/8'], true, false],
    [['127.0.2.0/28'], true, false],
    [['64.0.0.0/2'], true, false],
    [['128.0.0.0/1'], false, false],
    [['::1/128'], true, true],
    [['1.2.3.0/24', '127.0.0.1/32'], true, false],
  ];
  for (const [cidrs, contains, all] of loopback) {
    test(`MODEL-18 ${cidrs.join(', ') || 'an empty list'} ${contains ? 'holds' : 'does not hold'} the IPv4 loopback`, () => {
      const addresses = parseNodePortAddresses('IPv4', cidrs);
      assert.deepEqual([addresses.containsIPv4Loopback, addresses.matchAll], [contains, all]);
      assert.equal(parseNodePortAddresses('IPv6', cidrs).containsIPv4Loopback, false);
    });
  }

  test('MODEL-18 `primary` is the addresses of the node as far as they are known', () => {
    const resolve = (internalIPs: string[]) =>
      resolvePrimary(['primary'], detectNodeIPs(node('n', { internalIPs }), ''));
    assert.deepEqual(resolve(['fd00::1', '10.0.0.1']), ['10.0.0.1/32', 'fd00::1/128']);
    assert.deepEqual(resolve(['10.0.0.1']), ['10.0.0.1/32']);
    assert.deepEqual(resolve([]), []);
    assert.deepEqual(resolvePrimary(['10.0.0.0/8'], detectNodeIPs(undefined, '')), ['10.0.0.0/8']);
  });
});

describe('local detectors', () => {
  const config = (overrides: Partial<LocalDetectorConfig>): LocalDetectorConfig => ({
    mode: 'ClusterCIDR',
    clusterCIDRs: [],
    podCIDRs: [],
    bridgeInterface: '',
    interfaceNamePrefix: '',
    ...overrides,
  });
  const byCidr = (address: string, prefix: number) => ({ kind: 'source-cidr', cidr: { address, prefix } });
  const v4 = '10.0.0.0/14';
  const v6 = '2002:0:0:1234::/64';

  for (const order of [
    [v4, v6],
    [v6, v4],
  ]) {
    test(`MODEL-19 ClusterCIDR takes the first range of each family: ${order.join(', ')}`, () => {
      const detectors = chooseLocalDetectors(config({ clusterCIDRs: [...order, '192.168.0.0/16'] }), 'IPv4');
      assert.deepEqual(detectors, {
        IPv4: byCidr('10.0.0.0', 14),
        IPv6: byCidr('2002:0:0:1234::', 64),
        notice: undefined,
      });
    });
  }

  test('MODEL-19 NodeCIDR takes pod ranges and ignores cluster ranges', () => {
    const detectors = chooseLocalDetectors(
      config({ mode: 'NodeCIDR', podCIDRs: ['10.1.2.3/24'], clusterCIDRs: [v4, v6] }),
      'IPv4',
    );
    assert.deepEqual(detectors, { IPv4: byCidr('10.1.2.0', 24), IPv6: undefined, notice: undefined });
  });

  test('MODEL-19 without a range for the primary family it says so', () => {
    const notice = (mode: string, cidrs: string[], primary: Family) =>
      chooseLocalDetectors(config({ mode, clusterCIDRs: cidrs, podCIDRs: cidrs }), primary).notice;
    const words = 'Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family';
    assert.equal(notice('ClusterCIDR', [], 'IPv4'), words);
    assert.equal(notice('ClusterCIDR', [''], 'IPv4'), words);
    assert.equal(notice('ClusterCIDR', [v4], 'IPv6'), words);
    assert.equal(notice('ClusterCIDR', [v4], 'IPv4'), undefined);
    assert.match(notice('NodeCIDR', [v6], 'IPv4') ?? '', /^Detect-local-mode set to NodeCIDR, but no PodCIDR/);
  });

  test('MODEL-19 interfaces serve both families', () => {
    const bridge = { kind: 'interface', name: 'cni0' };
    const prefix = { kind: 'interface-prefix', prefix: 'veth' };
    assert.deepEqual(chooseLocalDetectors(config({ mode: 'BridgeInterface', bridgeInterface: 'cni0' }), 'IPv4'), {
      IPv4: bridge,
      IPv6: bridge,
      notice: undefined,
    });
    assert.deepEqual(
      chooseLocalDetectors(config({ mode: 'InterfaceNamePrefix', interfaceNamePrefix: 'veth' }), 'IPv6'),
      {
        IPv4: prefix,
        IPv6: prefix,
        notice: undefined,
      },
    );
  });

  test('MODEL-19 an unknown mode detects nothing', () => {
    assert.deepEqual(chooseLocalDetectors(config({ mode: 'Guess', clusterCIDRs: [v4] }), 'IPv4'), {
      IPv4: undefined,
      IPv6: undefined,
      notice: 'Defaulting to no-op detect-local',
    });
  });
});

describe('families that do not fit', () => {
  const config = (overrides: Partial<FamilyConfig>): FamilyConfig => ({
    primary: 'IPv4',
    dualStack: true,
    detectLocalMode: 'ClusterCIDR',
    clusterCIDRs: [],
    podCIDRs: [],
    nodePortAddresses: ['10.0.0.0/8'],
    ipvsExcludeCIDRs: [],
    healthzBindAddress: '',
    metricsBindAddress: '',
    ...overrides,
  });
  const v4 = ['10.0.0.0/8'];
  const v6 = ['fd00::/64'];
  const dual = [...v4, ...v6];

  const nodePorts: [string, Partial<FamilyConfig>, RegExp | undefined][] = [
    ['single-stack NodePort', {}, undefined],
    ['no addresses', { nodePortAddresses: [] }, /is unset/],
    ['dual-stack', { clusterCIDRs: dual, nodePortAddresses: dual }, undefined],
    ['dual-stack cluster, node ports of the primary family', { clusterCIDRs: dual }, /appears to be dual-stack/],
    ['dual-stack by pod ranges', { podCIDRs: dual }, /appears to be dual-stack/],
    ['dual-stack by ipvs ranges', { ipvsExcludeCIDRs: dual }, /appears to be dual-stack/],
    ['node ports of the other family only', { nodePortAddresses: v6 }, /IPv4-primary/],
    ['the same with IPv6 first', { primary: 'IPv6', nodePortAddresses: v4 }, /IPv6-primary/],
  ];
  for (const [what, overrides, want] of nodePorts) {
    test(`MODEL-20 ${what}: ${want ? 'warned of' : 'fine'}`, () => {
      const findings = checkNodePortAddresses(config(overrides));
      assert.equal(findings.length, want ? 1 : 0);
      if (want) assert.match(findings[0]?.message ?? '', want);
      assert.ok(findings.every(({ fatal }) => !fatal));
    });
  }

  const families: [string, Partial<FamilyConfig>, [RegExp, boolean][]][] = [
    ['all of the primary family', { clusterCIDRs: v4, podCIDRs: v4 }, []],
    ['both families', { clusterCIDRs: dual, podCIDRs: dual }, []],
    ['cluster ranges of the other, dual-stack', { clusterCIDRs: v6 }, [[/IPv4-primary but clusterCIDRs/, false]]],
    [
      'cluster ranges of the other, single-stack',
      { clusterCIDRs: v6, dualStack: false },
      [[/IPv4-only but clusterCIDRs/, true]],
    ],
    [
      'the same without ClusterCIDR mode',
      { clusterCIDRs: v6, dualStack: false, detectLocalMode: 'BridgeInterface' },
      [[/clusterCIDRs/, false]],
    ],
    ['pod ranges of the other in NodeCIDR mode', { podCIDRs: v6, detectLocalMode: 'NodeCIDR' }, [[/podCIDRs/, true]]],
    ['pod ranges of the other otherwise', { podCIDRs: v6 }, [[/podCIDRs/, false]]],
    ['ipvs ranges of the other, dual-stack', { ipvsExcludeCIDRs: v6 }, []],
    ['ipvs ranges of the other, single-stack', { ipvsExcludeCIDRs: v6, dualStack: false }, [[/excludeCIDRs/, false]]],
    [
      'addresses of the other, single-stack',
      { healthzBindAddress: '[fd00::1]:10256', metricsBindAddress: '[fd00::1]:10249', dualStack: false },
      [
        [/healthz/, false],
        [/metrics/, false],
      ],
    ],
    ['unspecified addresses', { healthzBindAddress: '[::]:10256', metricsBindAddress: ':10249', dualStack: false }, []],
    ['addresses of the other, dual-stack', { healthzBindAddress: '[fd00::1]:10256' }, []],
  ];
  for (const [what, overrides, want] of families) {
    test(`MODEL-20 ${what}`, () => {
      const findings = checkFamilies(config(overrides));
      assert.deepEqual(
        findings.map(({ fatal }) => fatal),
        want.map(([, fatal]) => fatal),
      );
      for (const [i, [words]] of want.entries()) assert.match(findings[i]?.message ?? '', words);
    });
  }
});
