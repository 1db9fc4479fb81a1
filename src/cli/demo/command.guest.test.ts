import assert from 'node:assert/strict';
import { test } from 'node:test';
import { main } from '../main.ts';

test('DEMO-9 the demo runs in ipvs mode on a kernel that has it', async () => {
  const out: string[] = [];
  const err: string[] = [];
  const status = await main(['demo', '--manifests', 'examples', '--once', '--proxy-mode', 'ipvs'], {
    stdout: { write: (text: string) => out.push(text) },
    stderr: { write: (text: string) => err.push(text) },
    env: {},
  });
  assert.deepEqual([status, err.join('')], [0, ''], out.join(''));
  assert.match(out.join(''), /^✓ all 36 as planned$/m);
});
