import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { machineCpus } from './cpus.ts';

function devices(files: Readonly<Record<string, string>>, check: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'cpus-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    check(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('KERNEL-12 CPUs are counted over all NUMA nodes, without those that are offline', () => {
  const files = {
    'node/node0/cpu0/topology/core_id': '0',
    'node/node0/cpu1/topology/core_id': '1',
    'node/node0/cpu1/online': '0\n',
    'node/node1/cpu2/topology/core_id': '0',
    'node/node1/cpu2/online': '1\n',
    'node/node1/cpulist': '2',
    'cpu/cpu0/topology/core_id': '0',
  };
  devices(files, folder => assert.equal(machineCpus(folder), 2));
});

test('KERNEL-12 without NUMA nodes the list of CPUs counts, without that the CPUs of this process', () => {
  devices({ 'cpu/cpu0/topology/core_id': '0', 'cpu/cpufreq/x': '' }, folder => assert.equal(machineCpus(folder), 1));
  devices({}, folder => assert.equal(machineCpus(folder), availableParallelism()));
});
