import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plusCounters } from './counters.ts';

const direction = (packets: string, bytes: string) => Buffer.from(`0c000100${packets}0c000200${bytes}`, 'hex');

test('TRAFFIC-3 the counters of both directions of a flow are summed up', () => {
  const original = direction('0000000000000006', '0000000000000180');
  const reply = direction('0000000100000000', '0000000000000020');
  const one = plusCounters(undefined, original, 0, original.length);
  assert.deepEqual(one, { packets: 6, bytes: 384 });
  assert.deepEqual(plusCounters(one, reply, 0, reply.length), { packets: 2 ** 32 + 6, bytes: 416 });
});

test('TRAFFIC-3 broken counters of a flow are ignored', () => {
  const broken = Buffer.from('ffff010000000000000000060000', 'hex');
  assert.deepEqual(plusCounters(undefined, broken, 0, broken.length), { packets: 0, bytes: 0 });
});
