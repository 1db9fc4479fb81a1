import { test } from 'node:test';
import { connectThroughSwitches } from './mode-switch.ts';

test('IPT-14 connections succeed all the time while one mode takes over from another', () =>
  connectThroughSwitches(['nftables', 'iptables', 'nftables', 'userspace']));

test('IPT-14 connections succeed all the time while userspace mode takes over from iptables mode', () =>
  connectThroughSwitches(['iptables', 'userspace']));

test('EBPF-12 connections succeed all the time while ebpf mode takes over, and while others take over from it', () =>
  connectThroughSwitches(['nftables', 'ebpf', 'nftables', 'ebpf', 'iptables', 'ebpf', 'iptables']));
