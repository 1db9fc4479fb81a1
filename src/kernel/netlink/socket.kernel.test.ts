import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NetworkNamespace } from '../netns.ts';
import { asString, asU32BE, attributeMap } from './reader.ts';
import { NetlinkSocket } from './socket.ts';
import { openTransport, Protocol } from './transport.ts';

const RTM_GETLINK = 18;
const NFT_MSG_GETGEN = (10 << 8) | 16;

test('KERNEL-11 dumps the links of a fresh namespace: only lo', () => {
  const namespace = NetworkNamespace.create();
  const socket = NetlinkSocket.open(Protocol.ROUTE, { namespace });
  try {
    const names = [...socket.dump('list links', RTM_GETLINK, writer => writer.struct(Buffer.alloc(16)))].map(message =>
      asString(attributeMap(message.body, 16).get(3)),
    );
    assert.deepEqual(names, ['lo']);
  } finally {
    socket.close();
    namespace.close();
  }
});

test('KERNEL-11 a request is answered inside the send', () => {
  const namespace = NetworkNamespace.create();
  const socket = NetlinkSocket.open(Protocol.NETFILTER, { namespace });
  try {
    const [reply] = socket.request('get the generation', NFT_MSG_GETGEN, 0, writer => writer.struct(Buffer.alloc(4)));
    assert.ok(reply);
    assert.equal(typeof asU32BE(attributeMap(reply.body, 4).get(1)), 'number');
  } finally {
    socket.close();
    namespace.close();
  }
});

test('KERNEL-11 a refused request throws an error with the errno and the operation', () => {
  const socket = NetlinkSocket.open(Protocol.ROUTE);
  try {
    assert.throws(
      () => socket.request('get link nonesuch', RTM_GETLINK, 0, w => w.struct(Buffer.alloc(16)).string(3, 'nonesuch')),
      { code: 'KERNEL_REFUSED', errno: 'ENODEV', operation: 'get link nonesuch' },
    );
  } finally {
    socket.close();
  }
});

test('KERNEL-11 a closed transport sends nothing, because another socket may have its descriptor now', async () => {
  const transport = openTransport(Protocol.ROUTE);
  transport.close();
  transport.close();
  assert.throws(() => transport.send(Buffer.alloc(16)), /send to netlink: the socket is closed/);
  await assert.rejects(transport.sendInBackground(Buffer.alloc(16)), /send to netlink: the socket is closed/);
});
