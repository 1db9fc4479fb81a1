import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { parseIp } from '../../net/index.ts';
import { NetworkNamespace } from '../netns.ts';
import { LinkFlag } from './link.ts';
import { RouteTable } from './route.ts';
import { RouteSocket } from './socket.ts';

test('KERNEL-11 a dummy link that is down can have addresses of both families, and they are local', async () => {
  const namespace = NetworkNamespace.create();
  const socket = RouteSocket.open({ namespace });
  try {
    const link = socket.addLink({ kind: 'dummy', name: 'kube-ipvs0', txqlen: 0 });
    assert.equal(link.kind, 'dummy');
    assert.equal(link.flags, LinkFlag.BROADCAST | LinkFlag.NOARP);
    assert.equal(link.txqlen, 0);
    const v4 = { ip: parseIp('10.96.0.1') ?? assert.fail(), prefix: 32 };
    const v6 = { ip: parseIp('fd00::1') ?? assert.fail(), prefix: 128 };
    assert.deepEqual(await socket.addAddresses(link, [v4, v6]), []);
    const again = await socket.addAddresses(link, [v6, v4]);
    assert.deepEqual(
      again.map(({ item, error }) => [item, error.errno]),
      [
        [v6, 'EEXIST'],
        [v4, 'EEXIST'],
      ],
    );
    const ip = namespace.run(() => spawnSync('ip', ['-o', 'addr', 'show', 'kube-ipvs0'], { encoding: 'utf8' }));
    assert.match(ip.stdout, /inet 10\.96\.0\.1\/32 .*\n.*inet6 fd00::1\/128 /);
    for (const [family, address] of [
      ['IPv4', v4.ip],
      ['IPv6', v6.ip],
    ] as const) {
      const routes = socket.routes({ family, table: RouteTable.LOCAL });
      assert.ok(routes.some(({ type, destination }) => type === 'local' && destination.address === address));
    }
    socket.deleteLink(link);
    assert.equal(socket.link('kube-ipvs0'), undefined);
  } finally {
    socket.close();
    namespace.close();
  }
});
