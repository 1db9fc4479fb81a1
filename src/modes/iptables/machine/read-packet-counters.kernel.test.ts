import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IptablesHarness } from '../../../../test/support/iptables-mode.ts';
import { runIn } from '../../../../test/support/run-in.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import { PacketCounters } from './read-packet-counters.ts';

test('IPT-7 the proxy reads how many packets rules counted, and reads 0 if a counter does not exist', async () => {
  const namespace = NetworkNamespace.create();
  const counters = PacketCounters.open(namespace);
  const mode = new IptablesHarness(namespace);
  try {
    assert.equal(counters.packets('ct_state_invalid_dropped_pkts'), 0);
    await mode.sync();
    runIn(namespace, 'ip', ['link', 'set', 'lo', 'up']);
    const match = ['-m', 'nfacct', '--nfacct-name', 'localhost_nps_accepted_pkts'];
    runIn(namespace, 'iptables', ['-A', 'OUTPUT', '-p', 'udp', ...match]);
    runIn(namespace, 'bash', ['-c', 'for i in 1 2 3 4; do echo > /dev/udp/127.0.0.1/9; done']);
    assert.equal(counters.packets('localhost_nps_accepted_pkts'), 4);
    assert.equal(counters.packets('ct_state_invalid_dropped_pkts'), 0);
  } finally {
    await mode.close();
    counters.close();
    namespace.close();
  }
});
