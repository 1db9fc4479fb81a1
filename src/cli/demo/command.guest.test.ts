import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runMain } from '../../../test/support/run-main.ts';

test('DEMO-9 the demo runs in ipvs mode on a kernel that has it', async () => {
  const { status, stdout, stderr } = await runMain([
    'demo',
    '--manifests',
    'examples',
    '--once',
    '--proxy-mode',
    'ipvs',
  ]);
  assert.deepEqual([status, stderr], [0, ''], stdout);
  assert.match(stdout, /^✓ all 36 as planned$/m);
});
