import { test } from 'node:test';
import { connectThroughSwitches } from './mode-switch.ts';

// The guest's kernel has no nftables for IPv4.
test('IPT-14 connections succeed all the time while ipvs mode takes over from iptables mode', () =>
  connectThroughSwitches(['iptables', 'ipvs']));

// What the node itself has under way comes from addresses that go with ipvs mode.
for (const next of ['iptables', 'userspace'] as const) {
  test(`IPT-14 connections of others than the node succeed all the time while ${next} mode takes over from ipvs mode`, () =>
    connectThroughSwitches(['ipvs', next], ['pod', 'outside']));
}
