import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { type Placement, placementOf } from './placement.ts';

const PLACEMENTS: readonly [ip: string, placement: Placement][] = [
  ['192.168.0.2', { kind: 'node' }],
  ['fd00:192:168::2', { kind: 'node' }],
  ['192.168.0.3', { kind: 'host', host: 'other-node' }],
  ['fd00:192:168::4', { kind: 'host', host: 'third-node' }],
  ['192.168.0.100', { kind: 'host', host: 'ext' }],
  ['10.244.1.2', { kind: 'pod' }],
  ['fd00:10:244:1::200', { kind: 'pod' }],
  ['10.244.2.3', { kind: 'remote-pod', host: 'other-node' }],
  ['fd00:10:244:3::4', { kind: 'remote-pod', host: 'third-node' }],
];

for (const [ip, placement] of PLACEMENTS) {
  test(`PLAY-1 ${ip} belongs to ${'host' in placement ? placement.host : 'the node'}`, () => {
    assert.deepEqual(placementOf(ip as Ip), placement);
  });
}

test('PLAY-1 an address outside of the cluster belongs to no machine', () => {
  for (const ip of ['10.244.4.1', '192.168.1.2', '2001:db8::1']) assert.throws(() => placementOf(ip as Ip), RangeError);
});
