import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfiguration } from '../../../config/index.ts';
import { optionsFrom } from './options.ts';

test('IPVS-22 the options of the configuration have timeouts in seconds, and no ranges by default', () => {
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
  assert.deepEqual(optionsFrom({ ...usual, ipvs }), {
    scheduler: 'lc',
    strictARP: true,
    excludeCIDRs: [],
    timeouts: { tcp: 900, tcpFin: 120, udp: 300 },
  });
});
