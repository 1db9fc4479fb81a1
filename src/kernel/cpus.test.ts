import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { countMachineCpus, countPossibleCpus } from './cpus.ts';

function count(text: string, countIn = countMachineCpus): number {
  const folder = mkdtempSync(join(tmpdir(), 'cpus-'));
  try {
    const file = join(folder, 'online');
    writeFileSync(file, text);
    return countIn(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('KERNEL-12 the CPUs in the list of the kernel count', () => {
  assert.equal(count('0\n'), 1);
  assert.equal(count('0-3\n'), 4);
  assert.equal(count('0-1,3,8-11\n'), 7);
  assert.equal(countMachineCpus(), cpus().length);
});

test('KERNEL-12 without a list that can be read, the CPUs of this process count', () => {
  assert.equal(countMachineCpus('/nonexistent'), availableParallelism());
  for (const text of ['', 'none\n', '3-1\n']) assert.equal(count(text), availableParallelism());
});

test('BPF-6 the possible CPUs are those in the list of the kernel, and nothing else can be assumed', () => {
  assert.equal(count('0-127\n', countPossibleCpus), 128);
  assert.ok(countPossibleCpus() >= countMachineCpus());
  assert.throws(() => count('none\n', countPossibleCpus), /has no list of CPUs/);
  assert.throws(() => countPossibleCpus('/nonexistent'), /has no list of CPUs/);
});
