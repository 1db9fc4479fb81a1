import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Logging } from '../../observe/logging/index.ts';
import { cleanupAll } from './cleanup-all.ts';

test('CLI-13 a mode whose cleanup fails does not stop the others, and the command fails at the end', async () => {
  const lines: string[] = [];
  const { log } = new Logging({ stdout: { write: () => 0 }, stderr: { write: line => lines.push(line) } });
  const modes = [
    { name: 'one', cleanup: async () => assert.fail('no way') },
    { name: 'two', cleanup: async () => ({ removed: ['a', 'b'], errors: [] }) },
  ];
  await assert.rejects(cleanupAll(log, modes), { message: 'encountered an error while tearing down rules' });
  assert.deepEqual(
    lines.map(line => line.replace(/.*\] /, '')),
    [
      '"Could not remove what a mode wrote" err="no way" mode="one"\n',
      '"Removed what a mode wrote" mode="two" object="a"\n',
      '"Removed what a mode wrote" mode="two" object="b"\n',
    ],
  );
  await cleanupAll(log, modes.slice(1));
});
