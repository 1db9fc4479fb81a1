import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONTROL_PLANE, NODES } from './addresses.ts';
import { ClusterNetwork } from './network.ts';
import { run } from './run.ts';

function reads(network: ClusterNetwork, host: typeof CONTROL_PLANE, command: readonly string[]): string {
  const [program = '', ...args] = network.inside(host, command);
  return run(program, args);
}

describe('the network of the cluster', () => {
  test('CONFORM-7 the hosts reach one another over both families, and the machine keeps its network', () => {
    const before = run('ip', ['-brief', 'link']);
    const network = new ClusterNetwork();
    try {
      const [first, second] = NODES;
      assert.ok(first && second);
      network.routeToPods(first, ['10.244.0.0/24', 'fd00:10:244::/64']);
      for (const other of [CONTROL_PLANE, second]) {
        assert.match(reads(network, other, ['ip', 'route', 'get', '10.244.0.5']), /via 192\.168\.100\.11 dev eth0/);
        assert.match(reads(network, other, ['ip', 'route', 'get', 'fd00:10:244::5']), /via fd00:100::11 dev eth0/);
      }
      const neighbour =
        'exec 3<>/dev/udp/192.168.100.11/9 && echo >&3; exec 4<>/dev/udp/fd00:100::11/9 && echo >&4; sleep 1';
      reads(network, second, ['bash', '-c', neighbour]);
      const known = reads(network, second, ['ip', 'neighbour']);
      assert.match(known, /192\.168\.100\.11 dev eth0 lladdr/);
      assert.match(known, /fd00:100::11 dev eth0 lladdr/);
    } finally {
      network.close();
    }
    assert.equal(run('ip', ['-brief', 'link']), before);
  });
});
