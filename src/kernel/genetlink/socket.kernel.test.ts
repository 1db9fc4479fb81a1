import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asString, attributeMap } from '../netlink/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { GENERIC_HEADER_LENGTH, GenericSocket } from './socket.ts';

const CTRL_CMD_GETFAMILY = 3;
const CTRL_ATTR_FAMILY_NAME = 2;

function withSocket(work: (socket: GenericSocket) => void) {
  return () => {
    const namespace = NetworkNamespace.create();
    const socket = GenericSocket.open({ namespace });
    try {
      work(socket);
    } finally {
      socket.close();
      namespace.close();
    }
  };
}

test(
  'KERNEL-11 finds the families that every kernel has, with their groups',
  withSocket(socket => {
    const control = socket.getFamily('nlctrl');
    assert.deepEqual([control.id, control.version, control.headerSize], [16, 2, 0]);
    assert.equal(control.groups.get('notify'), 16);
    const ethtool = socket.getFamily('ethtool');
    assert.ok(ethtool.id > 16);
    assert.deepEqual([...ethtool.groups.keys()], ['monitor']);
    assert.equal(socket.getFamily('ethtool'), ethtool);
  }),
);

test(
  'KERNEL-11 dumps the objects of a family',
  withSocket(socket => {
    const names = [...socket.dump('genl ctrl list', 'nlctrl', CTRL_CMD_GETFAMILY, 1)].map(({ body }) =>
      asString(attributeMap(body, GENERIC_HEADER_LENGTH).get(CTRL_ATTR_FAMILY_NAME)),
    );
    assert.ok(names.includes('nlctrl') && names.includes('ethtool'));
  }),
);

test(
  'KERNEL-11 the error for a missing family names the family',
  withSocket(socket => {
    assert.throws(() => socket.request('ask', 'NONESUCH', 1, 1), {
      code: 'KERNEL_REFUSED',
      errno: 'ENOENT',
      operation: 'genl ctrl get name NONESUCH',
    });
  }),
);
