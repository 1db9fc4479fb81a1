import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aloneInControlGroup } from '../../../../test/support/bpf-lab.ts';
import { ProgrammedSockets } from '../../../../test/support/programmed-sockets.ts';
import { ENDPOINTS, LEFT_ALONE, type SocketLab, withSocketLab } from '../../../../test/support/socket-lab.ts';
import { TestSocket } from '../../../../test/support/test-socket.ts';
import { type Family, type Ip, joinHostPort } from '../../../net/index.ts';
import { TargetFlag } from './index.ts';

const NODE_IPS: Readonly<Record<Family, Ip>> = { IPv4: '192.168.0.2' as Ip, IPv6: 'fd00:192::2' as Ip };
const [LOOPBACK, LOOPBACK6] = ['127.0.0.1' as Ip, '::1' as Ip];
const [NONE, NONE6] = ['0.0.0.0' as Ip, '::' as Ip];
const [SERVICE, SERVICE6] = ['10.96.0.10' as Ip, 'fd00:96::10' as Ip];
const FAMILIES = ['IPv4', 'IPv6'] as const;

const names = (family: Family) => ENDPOINTS[family].map(({ ip, port }) => joinHostPort(ip, port));

function addNodePort({ sockets }: SocketLab): void {
  for (const family of FAMILIES) {
    sockets.setNodePort(family, 30080, { pool: sockets.addPool(ENDPOINTS[family]) });
    sockets.addNodeAddress(NODE_IPS[family]);
  }
}

describe('EBPF-18 node ports', () => {
  test('EBPF-18 pods and the node reach a node port at an address of the node', () =>
    withSocketLab(lab => {
      addNodePort(lab);
      for (const network of [lab.pod, lab.node]) {
        for (const family of FAMILIES) assert.deepEqual(network.answers(NODE_IPS[family], 30080), names(family));
        assert.deepEqual(network.answers(NODE_IPS.IPv4, 30080, 'IPv6'), names('IPv4'));
        assert.equal(network.ask(NODE_IPS.IPv4, 30081), LEFT_ALONE, 'another port');
        assert.equal(network.ask('192.168.0.3' as Ip, 30080), LEFT_ALONE, 'the address of another machine');
      }
    }));

  test('EBPF-18 a loopback address is the node only for the node itself', () =>
    withSocketLab(lab => {
      addNodePort(lab);
      const { sockets, node, pod } = lab;
      for (const ip of [LOOPBACK, LOOPBACK6]) assert.equal(node.ask(ip, 30080), 'ECONNREFUSED', 'not wanted');
      for (const ip of [LOOPBACK, LOOPBACK6]) sockets.addNodeAddress(ip, 'loopback');
      assert.deepEqual(node.answers(LOOPBACK, 30080), names('IPv4'));
      assert.deepEqual(node.answers(LOOPBACK, 30080, 'IPv6'), names('IPv4'));
      assert.deepEqual(node.answers(LOOPBACK6, 30080), names('IPv6'));
      for (const ip of [LOOPBACK, LOOPBACK6]) assert.equal(pod.ask(ip, 30080), 'ECONNREFUSED');
      assert.equal(pod.ask(LOOPBACK, 30080, 'IPv6'), 'ECONNREFUSED');
    }));

  test('EBPF-17 the address 0 is the own machine of the socket, never a node port', () =>
    withSocketLab(lab => {
      addNodePort(lab);
      for (const network of [lab.pod, lab.node]) {
        assert.equal(network.ask(NONE, 30080), 'ECONNREFUSED');
        assert.equal(network.ask(NONE, 30080, 'IPv6'), 'ECONNREFUSED');
        assert.equal(network.ask(NONE6, 30080), 'ECONNREFUSED');
      }
    }));

  test('EBPF-17 a target for the node only is left to the network for pods', () =>
    withSocketLab(({ sockets, node, pod }) => {
      for (const [family, ip] of [
        ['IPv4', SERVICE],
        ['IPv6', SERVICE6],
      ] as const) {
        const target = { pool: sockets.addPool(ENDPOINTS[family]), flags: TargetFlag.nodeOnly };
        sockets.setTarget(ip, 80, target);
        assert.deepEqual(node.answers(ip, 80), names(family));
        assert.equal(pod.ask(ip, 80), LEFT_ALONE);
        sockets.setTarget(ip, 80, { flags: TargetFlag.nodeOnly | TargetFlag.refuse });
        assert.equal(node.ask(ip, 80), 'ECONNREFUSED');
        assert.equal(pod.ask(ip, 80), LEFT_ALONE);
      }
    }));
});

describe('EBPF-13 scope', () => {
  test('EBPF-13 scope node: the programs translate sockets of the node and leave all others alone', () =>
    withSocketLab(
      ({ sockets, node, pod }) => {
        for (const [family, ip] of [
          ['IPv4', SERVICE],
          ['IPv6', SERVICE6],
        ] as const) {
          sockets.setTarget(ip, 80, { pool: sockets.addPool(ENDPOINTS[family]) });
          assert.deepEqual(node.answers(ip, 80), names(family));
          assert.equal(pod.ask(ip, 80), LEFT_ALONE);
        }
        assert.equal(pod.ask(SERVICE, 80, 'IPv6'), LEFT_ALONE);
      },
      { scope: 'node', serves: [] },
    ));

  test('EBPF-13 a socket whose namespace is not served any more forgets the Service when it connects again', () =>
    withSocketLab(({ sockets, pod }) => {
      const [endpoint] = ENDPOINTS.IPv4;
      if (!endpoint) assert.fail('there is no endpoint');
      sockets.setTarget(SERVICE, 80, { pool: sockets.addPool([endpoint]), flags: TargetFlag.leastConnections });
      sockets.countEndpoint(endpoint);
      const socket = new TestSocket(pod.namespace, 'IPv4');
      assert.equal(socket.connect(SERVICE, 80), 'connected');
      assert.equal(sockets.activeOf(endpoint), 1);
      sockets.stopServing(pod.namespace);
      assert.equal(socket.peer(), '10.96.0.10:80', 'the connection goes on');
      socket.disconnect();
      assert.equal(socket.connect(endpoint.ip, endpoint.port), 'connected');
      assert.equal(socket.peer(), '10.244.1.11:8080');
      assert.equal(sockets.activeOf(endpoint), 0);
      socket.close();
    }));

  test('EBPF-13 scope all: the programs translate sockets of every namespace', () =>
    withSocketLab(({ node, pod, otherPod }) =>
      aloneInControlGroup(controlGroup => {
        const sockets = new ProgrammedSockets({ scope: 'all', controlGroup });
        try {
          sockets.setTarget(SERVICE, 80, { pool: sockets.addPool(ENDPOINTS.IPv4) });
          for (const network of [node, pod, otherPod]) assert.deepEqual(network.answers(SERVICE, 80), names('IPv4'));
        } finally {
          sockets.close();
        }
      }),
    ));
});
