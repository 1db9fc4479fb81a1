import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logging } from '../../observe/logging/index.ts';
import { cleanupAll } from './cleanup-all.ts';

test('CLI-13 a part that fails keeps no other, and is told at the end', async () => {
  const lines: string[] = [];
  const { log } = new Logging({ stdout: { write: () => 0 }, stderr: { write: line => lines.push(line) } });
  const parts = [
    { mode: 'one', clean: async () => assert.fail('no way') },
    { mode: 'two', clean: async () => ({ removed: ['a', 'b'], errors: [] }) },
  ];
  await assert.rejects(cleanupAll(log, parts), { message: 'encountered an error while tearing down rules' });
  assert.deepEqual(
    lines.map(line => line.replace(/.*\] /, '')),
    [
      '"Cannot remove what a mode left" err="no way" mode="one"\n',
      '"Removed" mode="two" what="a"\n',
      '"Removed" mode="two" what="b"\n',
    ],
  );
  await cleanupAll(log, parts.slice(1));
});
