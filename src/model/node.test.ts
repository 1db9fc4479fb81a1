import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { node } from '../../test/support/objects.ts';
import type { Family } from '../net/index.ts';
import { detectNodeIPs, nodeNameFrom, rawNodeIPs, zoneOf } from './node.ts';

describe('the node', () => {
  test('MODEL-17 the name of the node is the override or the host name, trimmed, in lower case', () => {
    assert.equal(nodeNameFrom('', 'Host '), 'host');
    assert.equal(nodeNameFrom(' Node-A', 'host'), 'node-a');
    assert.equal(nodeNameFrom(' ', 'host'), undefined);
  });

  test('MODEL-17 the zone of the node is its label, or empty', () => {
    assert.equal(zoneOf(node('n', { labels: { 'topology.kubernetes.io/zone': 'z' } })), 'z');
    assert.equal(zoneOf(node('n', { labels: { 'topology.kubernetes.io/region': 'r' } })), '');
    assert.equal(zoneOf(undefined), '');
  });

  test('MODEL-17 the raw addresses are the first and the first of the other family, internal before external', () => {
    const ips = (internalIPs: string[], externalIPs: string[]) => rawNodeIPs(node('n', { internalIPs, externalIPs }));
    assert.deepEqual(ips(['10.0.0.1', '10.0.0.2', 'fd00::1'], ['1.2.3.4']), ['10.0.0.1', 'fd00::1']);
    assert.deepEqual(ips(['bad', 'fd00::1'], ['1.2.3.4', '2001::1']), ['fd00::1', '1.2.3.4']);
    assert.deepEqual(ips([], []), []);
    assert.deepEqual(rawNodeIPs(undefined), []);
  });

  // node's addresses, bind address → primary, IPv4, IPv6
  const detections: [string[], string, Family, string, string][] = [
    [[], '10.0.0.1', 'IPv4', '10.0.0.1', '::1'],
    [[], 'fd00:4321::2', 'IPv6', '127.0.0.1', 'fd00:4321::2'],
    [[], '', 'IPv4', '127.0.0.1', '::1'],
    [[], '0.0.0.0', 'IPv4', '127.0.0.1', '::1'],
    [[], '::', 'IPv4', '127.0.0.1', '::1'],
    [['192.168.1.1'], '::', 'IPv4', '192.168.1.1', '::1'],
    [['fd00:1234::1'], '0.0.0.0', 'IPv6', '127.0.0.1', 'fd00:1234::1'],
    [['2001:db8::2', '90.90.90.90'], '80.80.80.80', 'IPv4', '80.80.80.80', '2001:db8::2'],
    [['90.90.90.90', '2001:db8::2'], '::1', 'IPv6', '90.90.90.90', '::1'],
    [['2001:db8::2', '90.90.90.90'], '', 'IPv6', '90.90.90.90', '2001:db8::2'],
  ];
  for (const [internalIPs, bind, primary, v4, v6] of detections) {
    test(`MODEL-17 with addresses ${internalIPs.join(', ') || '(none)'} and bind address ${bind || '(none)'}, ${primary} is primary`, () =>
      assert.deepEqual(detectNodeIPs(node('n', { internalIPs }), bind), { primary, IPv4: v4, IPv6: v6 }));
  }
});
