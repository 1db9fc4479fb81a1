import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countMachineCpus } from './cpus.ts';

function withDevices(files: Readonly<Record<string, string>>, check: (folder: string) => void): void {
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

test('KERNEL-12 counts the online CPUs of all NUMA nodes', () => {
  const files = {
    'node/node0/cpu0/topology/core_id': '0',
    'node/node0/cpu1/topology/core_id': '1',
    'node/node0/cpu1/online': '0\n',
    'node/node1/cpu2/topology/core_id': '0',
    'node/node1/cpu2/online': '1\n',
    'node/node1/cpulist': '2',
    'cpu/cpu0/topology/core_id': '0',
  };
  withDevices(files, folder => assert.equal(countMachineCpus(folder), 2));
});

test('KERNEL-12 without NUMA nodes the CPU list counts; without that list the CPUs of this process count', () => {
  withDevices({ 'cpu/cpu0/topology/core_id': '0', 'cpu/cpufreq/x': '' }, folder =>
    assert.equal(countMachineCpus(folder), 1),
  );
  withDevices({}, folder => assert.equal(countMachineCpus(folder), availableParallelism()));
});
