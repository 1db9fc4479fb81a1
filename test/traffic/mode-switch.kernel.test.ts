import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../src/net/index.ts';
import { Cluster, probe } from '../../src/playground/index.ts';
import { CaseObjects } from './case-objects.ts';
import { Endpoints } from './endpoints.ts';
import { readCase } from './recorded-case.ts';
import { caseSettings } from './settings.ts';
import { startProxy } from './start-proxy.ts';

test('IPT-14 connections succeed all the time while one mode takes over from another', async () => {
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  const recorded = await readCase('test/cases/clusterip-basic');
  const [step] = recorded.steps;
  assert.ok(step);
  const serve = (mode: 'nftables' | 'iptables') => {
    const proxy = startProxy(mode, cluster.node, caseSettings({}, mode));
    return { proxy, applied: proxy.apply(new CaseObjects().take(step)) };
  };
  let isOver = false;
  const failures = new Set<string>();
  let answers = 0;
  const ask = async () => {
    while (!isOver) {
      const options = { tries: 5, timeoutMs: 2000 };
      const result = await probe(cluster.node, '10.96.0.10' as Ip, 80, 'TCP', options);
      for (const failure of result.failures) failures.add(String(failure));
      for (const count of result.answers.values()) answers += count;
    }
  };
  try {
    await endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
    const first = serve('nftables');
    await first.applied;
    const asking = ask();
    await first.proxy.close();
    for (const mode of ['iptables', 'nftables', 'iptables'] as const) {
      const { proxy, applied } = serve(mode);
      await applied;
      await proxy.close();
    }
    isOver = true;
    await asking;
    assert.deepEqual([...failures], []);
    assert.ok(answers > 20, `${answers} answers`);
  } finally {
    isOver = true;
    await endpoints.close();
    cluster.close();
  }
});
