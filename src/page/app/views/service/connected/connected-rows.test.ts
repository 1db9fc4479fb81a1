import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndpointCount, SocketCounts } from '../../../../../inspect/index.ts';
import { connectedRows, connectedText } from './connected-rows.ts';

const USED: EndpointCount = {
  service: 'default/web',
  port: 'http',
  endpoint: '10.1.0.1:8080',
  endpointPod: 'default/web-1',
  endpointUse: 'used',
  sockets: 2,
  callers: [{ name: 'node', sockets: 2 }],
  callerCount: 1,
};
const GONE: EndpointCount = {
  service: 'default/web',
  port: 'http',
  endpoint: '10.1.0.2:8080',
  endpointUse: 'gone',
  sockets: 1300,
  callers: [
    { name: 'shop/cart-0', sockets: 1200 },
    { name: '10.1.0.9', sockets: 99 },
  ],
  callerCount: 3,
};

function counts(sockets: number, ...endpoints: EndpointCount[]): SocketCounts {
  return { node: 'node-a', mode: 'ebpf', isAvailable: true, sockets, endpoints, endpointCount: endpoints.length };
}

test('SOCKETS-15 a row has the pod or the address, the callers, and why new connections do not go there', () => {
  assert.deepEqual(connectedRows(counts(1302, USED, GONE)), [
    {
      id: 'http 10.1.0.2:8080',
      port: 'http',
      endpoint: '10.1.0.2:8080',
      address: undefined,
      sockets: 1300,
      callers: 'shop/cart-0: 1,200, 10.1.0.9: 99 and 1 more',
      leftOver: 'gone: no EndpointSlice has it any more',
    },
    {
      id: 'http 10.1.0.1:8080',
      port: 'http',
      endpoint: 'default/web-1',
      address: '10.1.0.1:8080',
      sockets: 2,
      callers: 'node: 2',
      leftOver: undefined,
    },
  ]);
});

test('SOCKETS-15 one line says how many sockets are connected, and to how many endpoints that are gone', () => {
  assert.equal(connectedText(counts(0)), 'No socket of this node is connected to this Service.');
  assert.equal(connectedText(counts(1, USED)), '1 socket of this node is connected to 1 endpoint.');
  const text = '1,302 sockets of this node are connected to 2 endpoints, one of them gone.';
  assert.equal(connectedText(counts(1302, USED, GONE)), text);
});
