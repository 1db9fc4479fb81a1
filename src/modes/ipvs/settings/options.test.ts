import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfiguration } from '../../../config/index.ts';
import { eventsOf } from '../../../daemon/events.ts';
import { ipvsConfig } from './options.ts';

test('IPVS-22 the configuration of ipvs mode: time-outs in seconds, no ranges unless given', () => {
  const usual = defaultConfiguration();
  const seconds = (value: bigint) => value * 1_000_000_000n;
  const ipvs = {
    ...usual.ipvs,
    scheduler: 'lc',
    strictARP: true,
    tcpTimeout: seconds(900n),
    tcpFinTimeout: seconds(120n),
    udpTimeout: seconds(300n),
  };
  assert.deepEqual(ipvsConfig({ ...usual, ipvs }), {
    scheduler: 'lc',
    strictARP: true,
    excludeCIDRs: [],
    timeouts: { tcp: 900, tcpFin: 120, udp: 300 },
  });
});

test('IPVS-22 the deprecation is an Event of the Node', () => {
  assert.deepEqual(eventsOf('node-a').ipvsDeprecated(), {
    type: 'Warning',
    reason: 'IPVSDeprecation',
    action: 'StartKubeProxy',
    regarding: eventsOf('node-a').birth().regarding,
    note: "The ipvs proxier is now deprecated and may be removed in a future release. Please use 'nftables' instead.",
  });
});
