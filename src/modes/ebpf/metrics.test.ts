import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricSet } from '../../observe/metrics/index.ts';
import { ebpfMetrics } from './metrics.ts';

test('EBPF-39 metrics show how often maps were made, how full they are and how much they can hold', async () => {
  const set = new MetricSet();
  ebpfMetrics(set, { generations: 3, usage: () => [{ map: 'frontends4', used: 7, capacity: 4096 }] });
  const samples = (await set.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
  assert.deepEqual(samples, [
    'pointsman_socket_generations_total 3',
    'pointsman_socket_map_capacity{map="frontends4"} 4096',
    'pointsman_socket_map_entries{map="frontends4"} 7',
  ]);
});
