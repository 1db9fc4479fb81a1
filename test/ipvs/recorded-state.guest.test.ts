import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { nodeNamespace } from '../support/ipvs-node.ts';
import { startIpvsProxy } from '../support/ipvs-proxy.ts';
import { canonicalRules, ipvsState } from '../support/ipvs-state.ts';
import { CaseObjects, NODE_NAME } from '../traffic/case-objects.ts';
import { allCaseFolders, readCase } from '../traffic/recorded-case.ts';
import { caseSettings } from '../traffic/settings.ts';

/** What the real kube-proxy left in the kernel after each step. */
function recorded(folder: string, step: number): Readonly<Record<string, string>> {
  const place = join(folder, 'ipvs', step === 0 ? '' : `step-${step}`);
  const names = ['addrs.txt', 'ipset.txt', 'ipvs.txt', 'iptables.v4.txt', 'iptables.v6.txt'];
  return Object.fromEntries(
    names.map(name => {
      const text = readFileSync(join(place, name), 'utf8');
      return [name, name.startsWith('iptables') ? canonicalRules(text) : text];
    }),
  );
}

describe('the state that is recorded of the real kube-proxy', { concurrency: 2 }, () => {
  for (const folder of allCaseFolders('ipvs').filter(folder => existsSync(join(folder, 'ipvs')))) {
    test(`IPVS-1 ${folder}`, async () => {
      const namespace = nodeNamespace();
      const { steps, configuration } = await readCase(folder);
      const proxy = startIpvsProxy(namespace, caseSettings(configuration, 'ipvs'), NODE_NAME);
      try {
        const objects = new CaseObjects();
        for (const [number, step] of steps.entries()) {
          await proxy.apply(objects.take(step));
          assert.deepEqual(ipvsState(namespace), recorded(folder, number), `step ${number}`);
        }
      } finally {
        await proxy.close();
        namespace.close();
      }
    });
  }
});
