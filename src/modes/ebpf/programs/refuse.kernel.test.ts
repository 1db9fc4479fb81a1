import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ENDPOINTS, LEFT_ALONE, withSocketLab } from '../../../../test/support/socket-lab.ts';
import { TestSocket } from '../../../../test/support/test-socket.ts';
import type { Ip } from '../../../net/index.ts';
import { TargetFlag } from './index.ts';

const [SERVICE, SERVICE6] = ['10.96.0.10' as Ip, 'fd00:96::10' as Ip];

describe('EBPF-4 a Service without endpoints', () => {
  test('EBPF-4 refuses at once, without a packet', () =>
    withSocketLab(({ sockets, pod }) => {
      for (const ip of [SERVICE, SERVICE6]) sockets.setTarget(ip, 80, { flags: TargetFlag.refuse });
      // The network would answer with another error, because it has no route.
      assert.equal(pod.ask(SERVICE, 80), 'ECONNREFUSED');
      assert.equal(pod.ask(SERVICE, 80, 'IPv6'), 'ECONNREFUSED');
      assert.equal(pod.ask(SERVICE6, 80), 'ECONNREFUSED');
      const socket = new TestSocket(pod.namespace, 'IPv4', { isBlocking: false });
      assert.equal(socket.connect(SERVICE, 80), 'ECONNREFUSED', 'also for a socket that does not block');
      socket.close();
    }));

  test('EBPF-4 a refused socket forgets the Service that it had before, and can connect again', () =>
    withSocketLab(({ sockets, pod }) => {
      const OTHER = '10.96.0.11' as Ip;
      sockets.setTarget(SERVICE, 80, { flags: TargetFlag.refuse });
      sockets.setTarget(OTHER, 80, { pool: sockets.addPool(ENDPOINTS.IPv4) });
      const socket = new TestSocket(pod.namespace, 'IPv4');
      assert.equal(socket.connect(OTHER, 80), 'connected');
      socket.disconnect();
      assert.equal(socket.connect(SERVICE, 80), 'ECONNREFUSED');
      assert.equal(sockets.peerOf(socket), undefined);
      assert.equal(socket.connect(OTHER, 80), 'connected');
      assert.equal(socket.peer(), '10.96.0.11:80');
      socket.close();
    }));

  test('EBPF-4 without bpf_set_retval the network refuses', () =>
    withSocketLab(
      ({ sockets, pod }) => {
        for (const ip of [SERVICE, SERVICE6]) sockets.setTarget(ip, 80, { flags: TargetFlag.refuse });
        assert.equal(pod.ask(SERVICE, 80), LEFT_ALONE);
        assert.equal(pod.ask(SERVICE6, 80), LEFT_ALONE);
      },
      { canRefuse: false },
    ));
});
