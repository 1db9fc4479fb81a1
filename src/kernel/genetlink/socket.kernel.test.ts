import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asString, attributeMap } from '../netlink/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { GENERIC_HEADER, GenericSocket } from './socket.ts';

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
    const control = socket.family('nlctrl');
    assert.deepEqual([control.id, control.version, control.headerSize], [16, 2, 0]);
    assert.equal(control.groups.get('notify'), 16);
    const ethtool = socket.family('ethtool');
    assert.ok(ethtool.id > 16);
    assert.deepEqual([...ethtool.groups.keys()], ['monitor']);
    assert.equal(socket.family('ethtool'), ethtool);
  }),
);

test(
  'KERNEL-11 dumps objects of a family',
  withSocket(socket => {
    const names = [...socket.dump('genl ctrl list', 'nlctrl', CTRL_CMD_GETFAMILY, 1)].map(({ body }) =>
      asString(attributeMap(body, GENERIC_HEADER).get(CTRL_ATTR_FAMILY_NAME)),
    );
    assert.ok(names.includes('nlctrl') && names.includes('ethtool'));
  }),
);

test(
  'KERNEL-11 a family that is not there is named in the refusal',
  withSocket(socket => {
    assert.throws(() => socket.request('ask', 'NONESUCH', 1, 1), {
      code: 'KERNEL_REFUSED',
      errno: 'ENOENT',
      operation: 'genl ctrl get name NONESUCH',
    });
  }),
);
