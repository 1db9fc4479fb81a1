import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { main } from '../main.ts';

test('CLI-4 help upstream prints what the program of upstream prints', async () => {
  const program = process.env.KUBE_PROXY_V1_37;
  assert.ok(program, 'npm run test:cluster sets the variable');
  const upstream = spawnSync(program, ['--help'], { encoding: 'utf8' });
  assert.equal(upstream.status, 0, upstream.stderr);
  const out: string[] = [];
  const stream = { write: (text: string) => out.push(text) };
  assert.equal(await main(['help', 'upstream'], { stdout: stream, stderr: stream, env: {} }), 0);
  assert.equal(out.join(''), upstream.stdout);
});
