import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Family } from '../net/index.ts';
import { chooseLocalDetectors, type LocalDetectorConfig } from './local-detector.ts';

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
    test(`MODEL-19 ClusterCIDR uses the first range of each family: ${order.join(', ')}`, () => {
      const detectors = chooseLocalDetectors(config({ clusterCIDRs: [...order, '192.168.0.0/16'] }), 'IPv4');
      assert.deepEqual(detectors, {
        IPv4: byCidr('10.0.0.0', 14),
        IPv6: byCidr('2002:0:0:1234::', 64),
        notice: undefined,
      });
    });
  }

  test('MODEL-19 NodeCIDR uses pod ranges and ignores cluster ranges', () => {
    const detectors = chooseLocalDetectors(
      config({ mode: 'NodeCIDR', podCIDRs: ['10.1.2.3/24'], clusterCIDRs: [v4, v6] }),
      'IPv4',
    );
    assert.deepEqual(detectors, { IPv4: byCidr('10.1.2.0', 24), IPv6: undefined, notice: undefined });
  });

  test('MODEL-19 without a range of the primary family there is a notice', () => {
    const notice = (mode: string, cidrs: string[], primary: Family) =>
      chooseLocalDetectors(config({ mode, clusterCIDRs: cidrs, podCIDRs: cidrs }), primary).notice;
    const expected = 'Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family';
    assert.equal(notice('ClusterCIDR', [], 'IPv4'), expected);
    assert.equal(notice('ClusterCIDR', [''], 'IPv4'), expected);
    assert.equal(notice('ClusterCIDR', [v4], 'IPv6'), expected);
    assert.equal(notice('ClusterCIDR', [v4], 'IPv4'), undefined);
    assert.match(notice('NodeCIDR', [v6], 'IPv4') ?? '', /^Detect-local-mode set to NodeCIDR, but no PodCIDR/);
  });

  test('MODEL-19 interfaces detect local traffic in both families', () => {
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
