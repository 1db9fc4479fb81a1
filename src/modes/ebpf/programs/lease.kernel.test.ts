import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINTS, LEFT_ALONE, withSocketLab } from '../../../../test/support/socket-lab.ts';
import type { Ip } from '../../../net/index.ts';
import { TargetFlag } from './index.ts';

const [SERVICE, SERVICE6, REFUSED] = ['10.96.0.10' as Ip, 'fd00:96::10' as Ip, '10.96.0.11' as Ip];

test('EBPF-44 when the lease has ended, the programs leave all connections to the network', () =>
  withSocketLab(({ sockets, pod }) => {
    sockets.setTarget(SERVICE, 80, { pool: sockets.addPool(ENDPOINTS.IPv4) });
    sockets.setTarget(SERVICE6, 80, { pool: sockets.addPool(ENDPOINTS.IPv6) });
    sockets.setTarget(REFUSED, 80, { flags: TargetFlag.refuse });
    const addresses = [SERVICE, SERVICE6, REFUSED];
    const served = () => addresses.map(ip => pod.ask(ip, 80) !== LEFT_ALONE);
    assert.deepEqual(served(), [true, true, true]);
    sockets.setLease(process.hrtime.bigint() - 1n);
    assert.deepEqual(served(), [false, false, false]);
    sockets.setLease(process.hrtime.bigint() + 60_000_000_000n);
    assert.deepEqual(served(), [true, true, true]);
  }));
