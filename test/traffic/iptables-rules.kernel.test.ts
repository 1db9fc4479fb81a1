import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Backend } from '../../src/kernel/iptables/index.ts';
import { canonicalRules } from '../support/iptables-rules.ts';
import { createLoopbackNode } from '../support/namespaces.ts';
import { CaseObjects } from './case-objects.ts';
import { readCase } from './recorded-case.ts';
import { caseSettings } from './settings.ts';
import { startProxy } from './start-proxy.ts';

const CASES = 'test/cases';
const BACKENDS: readonly (readonly [Backend, string])[] = [
  ['nf_tables', 'nft'],
  ['legacy', 'legacy'],
];
const RECORDED_FILES = [
  ['iptables', 'iptables.v4.txt'],
  ['ip6tables', 'iptables.v6.txt'],
] as const;
const folders = readdirSync(CASES)
  .map(name => join(CASES, name))
  .filter(folder => existsSync(join(folder, 'iptables')))
  .sort();

async function compareRules(folder: string, backend: Backend, suffix: string): Promise<void> {
  const { steps, configuration } = await readCase(folder);
  const namespace = createLoopbackNode();
  const proxy = startProxy('iptables', namespace, caseSettings(configuration, 'iptables'), { backend });
  const objects = new CaseObjects();
  try {
    for (const [number, step] of steps.entries()) {
      await proxy.apply(objects.apply(step));
      const recorded = join(folder, 'iptables', number === 0 ? '.' : `step-${number}`);
      for (const [program, file] of RECORDED_FILES) {
        const text = canonicalRules(namespace, `${program}-${suffix}-save`);
        assert.equal(text, readFileSync(join(recorded, file), 'utf8'), `${file} after step ${number}`);
      }
    }
  } finally {
    await proxy.close();
    namespace.close();
  }
}

for (const [backend, suffix] of BACKENDS) {
  describe(`rules of the ${backend} backend`, { concurrency: 3 }, () => {
    for (const folder of folders) test(`IPT-1 ${folder}`, () => compareRules(folder, backend, suffix));
  });
}
