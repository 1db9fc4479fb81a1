import assert from 'node:assert/strict';
import type { Ip } from '../../src/net/index.ts';
import { Cluster, probe } from '../../src/playground/index.ts';
import type { ProxyMode } from '../../src/proxy/index.ts';
import { CaseObjects } from './case-objects.ts';
import { Endpoints } from './endpoints.ts';
import { readCase } from './recorded-case.ts';
import { caseSettings } from './settings.ts';
import { startProxy } from './start-proxy.ts';

/** Runs one mode after another on a node, each taking over from the one before, and connects to a Service all the time. */
export async function connectThroughSwitches(modes: readonly ProxyMode[]): Promise<void> {
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  const [step] = (await readCase('test/cases/clusterip-basic')).steps;
  assert.ok(step);
  const run = async (mode: ProxyMode) => {
    const proxy = startProxy(mode, cluster.node, caseSettings({}, mode));
    await proxy.apply(new CaseObjects().take(step));
    // With the mode ends the removal of what the one before left.
    await proxy.close();
  };
  const failures = new Set<string>();
  let isOver = false;
  let answers = 0;
  const ask = async () => {
    while (!isOver) {
      const result = await probe(cluster.node, '10.96.0.10' as Ip, 80, 'TCP', { tries: 5, timeoutMs: 2000 });
      for (const failure of result.failures) failures.add(String(failure));
      for (const count of result.answers.values()) answers += count;
    }
  };
  try {
    await endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
    const [first, ...others] = modes;
    if (first) await run(first);
    const asking = ask();
    for (const mode of others) await run(mode);
    isOver = true;
    await asking;
    assert.deepEqual([...failures], []);
    assert.ok(answers > 20, `${answers} answers`);
  } finally {
    isOver = true;
    await endpoints.close();
    cluster.close();
  }
}
