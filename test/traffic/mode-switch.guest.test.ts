import { test } from 'node:test';
import { connectThroughSwitches } from './mode-switch.ts';

// The guest's kernel has no nftables for IPv4.
test('IPT-14 connections succeed all the time while ipvs and iptables mode take over from each other, and userspace from ipvs', () =>
  connectThroughSwitches(['iptables', 'ipvs', 'iptables', 'ipvs', 'userspace']));
