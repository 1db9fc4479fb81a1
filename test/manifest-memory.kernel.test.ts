import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const COUNT = 25_000;
const service = (i: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `s-${i}`, labels: { a: 'b' } },
  spec: { clusterIP: `10.96.${i >> 8}.${i & 255}`, ports: [{ port: i === 0 ? 99_999 : 80 }] },
});
const SERVICES = Array.from({ length: COUNT }, (_, i) => service(i));
const yaml = ({ metadata: { name }, spec: { clusterIP, ports } }: (typeof SERVICES)[number]) =>
  `- {apiVersion: v1, kind: Service, metadata: {name: ${name}}, spec: {clusterIP: ${clusterIP}, ports: [{port: ${ports[0]?.port}}]}}\n`;

/** Runs `plan` with little memory for JavaScript, and returns the problem that it prints first. */
function firstProblem(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'memory-'));
  try {
    writeFileSync(join(folder, name), text);
    const args = ['plan', '--manifests', folder, '--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16'];
    const env = { ...process.env, NODE_OPTIONS: '--max-old-space-size=128' };
    const { signal, stdout, stderr } = spawnSync('bin/kube-proxy', args, {
      env,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    });
    assert.equal(signal, null, stderr.slice(-2000));
    return stdout.split('\n').find(line => line.includes(name)) ?? '';
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('FILES-10 a large file with a problem does not end a process that has little memory', () => {
  const list = { apiVersion: 'v1', kind: 'List', items: SERVICES };
  assert.match(firstProblem('a.json', JSON.stringify(list)), /a\.json:1:\d+.*is the number 99999/);
  const text = `apiVersion: v1\nkind: List\nitems:\n${SERVICES.map(yaml).join('')}`;
  assert.match(firstProblem('a.yaml', text), /a\.yaml.*has a YAML document that takes too much memory: split it/);
});
