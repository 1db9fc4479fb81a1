import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkFamilies, checkNodePortAddresses, type FamilyConfig } from './family-checks.ts';

describe('address families that do not fit the node', () => {
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
    ['an address of the only family', {}, undefined],
    ['an empty list of addresses', { nodePortAddresses: [] }, /is unset/],
    [
      'a dual-stack cluster with addresses of both families',
      { clusterCIDRs: dual, nodePortAddresses: dual },
      undefined,
    ],
    [
      'a dual-stack cluster (by cluster ranges) with addresses of the primary family',
      { clusterCIDRs: dual },
      /appears to be dual-stack/,
    ],
    [
      'a dual-stack cluster (by pod ranges) with addresses of the primary family',
      { podCIDRs: dual },
      /appears to be dual-stack/,
    ],
    [
      'a dual-stack cluster (by ipvs ranges) with addresses of the primary family',
      { ipvsExcludeCIDRs: dual },
      /appears to be dual-stack/,
    ],
    ['a list with addresses of the other family only', { nodePortAddresses: v6 }, /IPv4-primary/],
    [
      'a list with IPv4 addresses only in an IPv6-primary cluster',
      { primary: 'IPv6', nodePortAddresses: v4 },
      /IPv6-primary/,
    ],
  ];
  for (const [what, overrides, want] of nodePorts) {
    test(`MODEL-20 ${what} causes ${want ? 'a warning' : 'no warning'}`, () => {
      const findings = checkNodePortAddresses(config(overrides));
      assert.equal(findings.length, want ? 1 : 0);
      if (want) assert.match(findings[0]?.message ?? '', want);
      assert.ok(findings.every(({ fatal }) => !fatal));
    });
  }

  const families: [string, Partial<FamilyConfig>, [RegExp, boolean][]][] = [
    ['all ranges of the primary family', { clusterCIDRs: v4, podCIDRs: v4 }, []],
    ['ranges of both families', { clusterCIDRs: dual, podCIDRs: dual }, []],
    [
      'cluster ranges of the other family, dual-stack',
      { clusterCIDRs: v6 },
      [[/IPv4-primary but clusterCIDRs/, false]],
    ],
    [
      'cluster ranges of the other family, single-stack',
      { clusterCIDRs: v6, dualStack: false },
      [[/IPv4-only but clusterCIDRs/, true]],
    ],
    [
      'cluster ranges of the other family, single-stack, without ClusterCIDR mode',
      { clusterCIDRs: v6, dualStack: false, detectLocalMode: 'BridgeInterface' },
      [[/clusterCIDRs/, false]],
    ],
    [
      'pod ranges of the other family in NodeCIDR mode',
      { podCIDRs: v6, detectLocalMode: 'NodeCIDR' },
      [[/podCIDRs/, true]],
    ],
    ['pod ranges of the other family in another mode', { podCIDRs: v6 }, [[/podCIDRs/, false]]],
    ['ipvs ranges of the other family, dual-stack', { ipvsExcludeCIDRs: v6 }, []],
    [
      'ipvs ranges of the other family, single-stack',
      { ipvsExcludeCIDRs: v6, dualStack: false },
      [[/excludeCIDRs/, false]],
    ],
    [
      'bind addresses of the other family, single-stack',
      { healthzBindAddress: '[fd00::1]:10256', metricsBindAddress: '[fd00::1]:10249', dualStack: false },
      [
        [/healthz/, false],
        [/metrics/, false],
      ],
    ],
    [
      'unspecified bind addresses',
      { healthzBindAddress: '[::]:10256', metricsBindAddress: ':10249', dualStack: false },
      [],
    ],
    ['bind addresses of the other family, dual-stack', { healthzBindAddress: '[fd00::1]:10256' }, []],
  ];
  for (const [what, overrides, want] of families) {
    test(`MODEL-20 ${what}: ${want.some(([, fatal]) => fatal) ? 'fatal' : want.length > 0 ? 'a warning' : 'no warning'}`, () => {
      const findings = checkFamilies(config(overrides));
      assert.deepEqual(
        findings.map(({ fatal }) => fatal),
        want.map(([, fatal]) => fatal),
      );
      for (const [i, [message]] of want.entries()) assert.match(findings[i]?.message ?? '', message);
    });
  }
});
