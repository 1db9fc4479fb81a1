import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { conntrackMax, conntrackSysctls } from './conntrack-sysctls.ts';

describe('conntrack sysctls', () => {
  const none = {
    maxPerCore: undefined,
    min: undefined,
    tcpEstablishedTimeoutMs: undefined,
    tcpCloseWaitTimeoutMs: undefined,
    tcpBeLiberal: false,
    udpTimeoutMs: undefined,
    udpStreamTimeoutMs: undefined,
  };
  const maxima: [number | undefined, number | undefined, number, number][] = [
    [0, 0, 4, 0],
    [undefined, 500_000, 4, 0],
    [12_345, 0, 4, 49_380],
    [10, 987_654, 4, 987_654],
    [32_768, 131_072, 2, 131_072],
    [32_768, 131_072, 512, 1_048_576],
    [600_000, 2_000_000, 4, 1_048_576],
  ];
  for (const [maxPerCore, min, cpus, want] of maxima) {
    test(`PLAN-13 ${cpus} cores with ${maxPerCore} flows each and a minimum of ${min} give a limit of ${want}`, () =>
      assert.equal(conntrackMax({ ...none, maxPerCore, min }, cpus), want));
  }

  test('PLAN-13 an empty configuration or zeros set no sysctl', () => {
    assert.deepEqual(conntrackSysctls(none, 4), []);
    assert.deepEqual(conntrackSysctls({ ...none, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, udpTimeoutMs: 0 }, 4), []);
  });

  test('PLAN-13 each setting has its sysctl, times are in seconds', () => {
    const all = {
      maxPerCore: 1000,
      min: 1,
      tcpEstablishedTimeoutMs: 86_400_000,
      tcpCloseWaitTimeoutMs: 3_600_000,
      tcpBeLiberal: true,
      udpTimeoutMs: 30_000,
      udpStreamTimeoutMs: 120_000,
    };
    assert.deepEqual(
      conntrackSysctls(all, 4).map(({ name, value }) => `${name}=${value}`),
      [
        'net/netfilter/nf_conntrack_max=4000',
        'net/netfilter/nf_conntrack_tcp_timeout_established=86400',
        'net/netfilter/nf_conntrack_tcp_timeout_close_wait=3600',
        'net/netfilter/nf_conntrack_tcp_be_liberal=1',
        'net/netfilter/nf_conntrack_udp_timeout=30',
        'net/netfilter/nf_conntrack_udp_timeout_stream=120',
      ],
    );
  });
});
