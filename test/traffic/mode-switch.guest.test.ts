import { test } from 'node:test';
import { connectThroughSwitches } from './mode-switch.ts';

// The kernel of the guest has no nftables for IPv4.
test('IPT-14 connections succeed all the time while ipvs mode takes over from iptables mode', () =>
  connectThroughSwitches(['iptables', 'ipvs']));

// Connections of the node itself use addresses that ipvs mode removes at its end, so they are not tested.
for (const next of ['iptables', 'userspace'] as const) {
  test(`IPT-14 connections of pods and from outside succeed all the time while ${next} mode takes over from ipvs mode`, () =>
    connectThroughSwitches(['ipvs', next], ['pod', 'outside']));
}
