import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cleanup, type CleanupOptions, LeftoverError } from '../../modes/index.ts';
import { Logging } from '../../observe/logging/index.ts';
import { cleanupAll } from './cleanup-all.ts';

function logLines() {
  const lines: string[] = [];
  const { log } = new Logging({ stdout: { write: () => 0 }, stderr: { write: line => lines.push(line) } });
  return { log, lines: () => lines.splice(0).map(line => line.replace(/.*\] /, '')) };
}

const NONE: Cleanup = { removed: [], errors: [], kept: [] };

test('CLI-13 a mode whose cleanup fails does not stop the others, and the command fails at the end', async () => {
  const { log, lines } = logLines();
  const modes = [
    { name: 'one', cleanup: async () => assert.fail('no way') },
    { name: 'two', cleanup: async () => ({ ...NONE, removed: ['a', 'b'] }) },
  ];
  await assert.rejects(cleanupAll(log, {}, modes), { message: 'encountered an error while tearing down rules' });
  const again = 'run the cleanup again, and if that does not help, remove it by hand';
  assert.deepEqual(lines(), [
    '"Removed what a mode wrote" mode="two" object="a"\n',
    '"Removed what a mode wrote" mode="two" object="b"\n',
    `"Could not remove what a mode wrote" err="rules of mode one: no way: ${again}" mode="one" object="rules of mode one"\n`,
  ]);
  await cleanupAll(log, {}, modes.slice(1));
});

test('CLI-17 what stays is reported once, and not if the cleanup of another mode lets it be removed', async () => {
  const { log, lines } = logLines();
  const chain = new LeftoverError({ object: 'chain A', reason: 'in use', advice: 'wait' });
  const link = new LeftoverError({ object: 'link B', reason: 'of another kind', advice: 'delete it' });
  let isUsed = true;
  const modes = [
    {
      name: 'one',
      cleanup: async () =>
        isUsed ? { ...NONE, kept: [chain, link] } : { ...NONE, removed: ['chain A'], kept: [link] },
    },
    {
      name: 'two',
      cleanup: async () => {
        isUsed = false;
        return { ...NONE, errors: [link] };
      },
    },
  ];
  await assert.rejects(cleanupAll(log, {}, modes));
  assert.deepEqual(lines(), [
    '"Removed what a mode wrote" mode="one" object="chain A"\n',
    '"Could not remove what a mode wrote" err="link B: of another kind: delete it" mode="one" object="link B"\n',
  ]);
});

test('CLI-77 each mode cleans up where the proxy worked', async () => {
  const roots: unknown[] = [];
  const mode = {
    name: 'one',
    cleanup: async (options?: CleanupOptions) => {
      roots.push(options?.cgroupRoot);
      return NONE;
    },
  };
  await cleanupAll(logLines().log, { cgroupRoot: '/a/group' }, [mode]);
  assert.deepEqual(roots, ['/a/group']);
});
