import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressEvent, applyEvent, type ClusterEvent, clusterEvent } from '../../../test/support/cluster-events.ts';
import { MemoryTables } from '../../../test/support/iptables-memory.ts';
import { detectorOf, rulesFor } from '../../../test/support/iptables-plans.ts';
import { Model } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { type PlanDiff, Planner, planId, type ServicePortPlan } from '../../plan/index.ts';
import { partialTexts } from './diff.ts';
import { fullText } from './render.ts';
import { nodePortRules, SHARED_CHAINS } from './rules/fixed-rules.ts';
import type { RenderChange } from './rules/render-input.ts';
import { contestedRules, sharedRules } from './rules/service-rules.ts';

const options = rulesFor();
const event = fc.oneof(clusterEvent, addressEvent);

function cluster() {
  const model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  const planner = new Planner(model, {
    node: { name: 'node-a', zone: 'zone-a' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: detectorOf('10.0.0.0/8'),
    masqueradeAll: false,
    allowExternalIPs: true,
  });
  return { model, planner };
}

function changesOf({ added, updated, removed }: PlanDiff): readonly RenderChange[] {
  const inputFor = (plan: ServicePortPlan) => ({ plan, withComments: true });
  return [
    ...added.map(plan => ({ id: planId(plan), from: undefined, to: inputFor(plan) })),
    ...updated.map(({ from, to }) => ({ id: planId(to), from: inputFor(from), to: inputFor(to) })),
    ...removed.map(plan => ({ id: planId(plan), from: inputFor(plan), to: undefined })),
  ];
}

const histories = fc.array(fc.array(event, { maxLength: 6 }), { maxLength: 8 });
const lastRules = nodePortRules(options);

/** The tables after partial restores for each batch of events, and the tables after a fresh start. */
function after(batches: readonly (readonly ClusterEvent[])[]) {
  const { model, planner } = cluster();
  const [tables, fresh] = [new MemoryTables(), new MemoryTables()];
  tables.restore(fullText([], options, true));
  for (const batch of batches) {
    for (const next of batch) applyEvent(model, next);
    const changes = changesOf(planner.update(model.take()));
    const around = { size: () => 1000, all: () => [], inParts: true };
    const texts = partialTexts(changes, { options, lastRules: { from: lastRules, to: lastRules }, ...around });
    for (const text of texts) tables.restore(text);
  }
  fresh.restore(fullText(planner.plans(), options, true));
  return { tables, fresh, plans: [...planner.plans()] };
}

test('IPT-2 partial restores keep the rules of every service port in the order of a fresh start', () =>
  fc.assert(
    fc.property(histories, batches => {
      const { tables, fresh } = after(batches);
      assert.deepEqual(tables.byServicePort(), fresh.byServicePort());
    }),
    { numRuns: 300, seed: 4 },
  ));

test('IPT-16 rules of a frontend that belongs to another Service come after all others, before the last rules', () => {
  let seen = 0;
  const check = (tables: MemoryTables, plans: readonly ServicePortPlan[]) => {
    for (const table of ['filter', 'nat'] as const) {
      for (const chain of SHARED_CHAINS[table]) {
        const rules = tables.rulesOf(table, chain);
        const places = (list: readonly string[]) =>
          list.flatMap(rule => (rules.includes(rule) ? rules.indexOf(rule) : []));
        const own = places(plans.flatMap(plan => sharedRules(plan, options)[table]));
        const contested = places(plans.flatMap(plan => contestedRules(plan, options)[table]));
        seen += contested.length;
        assert.ok(Math.max(...own) < Math.min(...contested), `${table} ${chain}: ${rules.join('\n')}`);
        if (table === 'nat' && chain === 'KUBE-SERVICES') assert.deepEqual(rules.slice(-lastRules.length), lastRules);
      }
    }
  };
  fc.assert(
    fc.property(histories, batches => {
      const { tables, fresh, plans } = after(batches);
      check(tables, plans);
      check(fresh, plans);
    }),
    { numRuns: 300, seed: 5 },
  );
  assert.ok(seen > 100, `${seen} contested rules`);
});
