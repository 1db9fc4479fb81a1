import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostCidr, type Ip, parseCidr } from '../net/index.ts';
import { markingTable } from './marking-table.ts';
import type { PacketSelection } from './selection.ts';

const POD = hostCidr('10.244.1.200' as Ip);
const SERVICE = hostCidr('10.96.0.10' as Ip);
const SERVICE6 = hostCidr('fd00:10:96::10' as Ip);

/** The rules of the chains through which packets come in. */
function entryRules(selection: PacketSelection): readonly string[] {
  const lines = [...markingTable('t', selection).lines()];
  return lines.flatMap(line => /^add rule inet t mark-(.*)$/.exec(line)?.[1] ?? []);
}

test('TRACE-2 rules match source, destination, protocol and port, at both ways in', () => {
  const destinations = [{ address: SERVICE, protocol: 'TCP', port: 80 } as const];
  const rule = 'ip saddr 10.244.1.200 ip daddr 10.96.0.10 tcp dport 80 jump mark';
  assert.deepEqual(entryRules({ source: POD, destinations }), [`prerouting ${rule}`, `output ${rule}`]);
});

test('TRACE-2 packets of the node itself are marked where they are sent', () => {
  const destinations = [{ address: SERVICE6, protocol: 'UDP', port: 53 } as const];
  assert.deepEqual(entryRules({ source: 'node', destinations }), [
    'output ip6 daddr fd00:10:96::10 udp dport 53 jump mark',
  ]);
});

test('TRACE-2 a node port is at every address of the node', () => {
  const [rule] = entryRules({ source: undefined, destinations: [{ address: 'node', protocol: 'TCP', port: 30080 }] });
  assert.equal(rule, 'prerouting fib daddr type local tcp dport 30080 jump mark');
});

test('TRACE-2 a source without destinations is enough, and families do not mix', () => {
  const range = parseCidr('10.244.0.0/20');
  assert.deepEqual(entryRules({ source: range, destinations: [] })[0], 'prerouting ip saddr 10.244.0.0/20 jump mark');
  assert.deepEqual(entryRules({ source: range, destinations: [{ address: SERVICE6 }] }), []);
});

test('TRACE-2 TRACE-3 the table belongs to its socket, changes no packet, and has limits', () => {
  const lines = [...markingTable('t', { source: POD, destinations: [] }).lines()];
  assert.equal(lines[0], 'create table inet t { flags owner ; comment "kube-proxy trace: marks packets" ; }');
  const marks = lines.filter(line => line.startsWith('add rule inet t mark '));
  assert.deepEqual(marks, [
    'add rule inet t mark tcp flags syn / syn,ack limit rate 100/second burst 100 packets meta nftrace set 1 accept',
    'add rule inet t mark tcp flags != syn / syn,ack limit rate 20/second burst 20 packets meta nftrace set 1 accept',
    'add rule inet t mark meta l4proto != tcp limit rate 100/second burst 100 packets meta nftrace set 1 accept',
  ]);
});
