import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addressEvent, applyEvent, clusterEvent } from '../../../test/support/cluster-events.ts';
import { MemoryTables } from '../../../test/support/iptables-memory.ts';
import { detectorOf, rulesFor } from '../../../test/support/iptables-plans.ts';
import { Model } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { type PlanDiff, Planner, planId, type ServicePortPlan } from '../../plan/index.ts';
import { fullText } from './full-text.ts';
import { partialTexts } from './partial-text.ts';
import type { Change } from './written.ts';

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

function changesOf({ added, updated, removed }: PlanDiff): readonly Change[] {
  const written = (plan: ServicePortPlan) => ({ plan, withComments: true });
  return [
    ...added.map(plan => ({ id: planId(plan), from: undefined, to: written(plan) })),
    ...updated.map(({ from, to }) => ({ id: planId(to), from: written(from), to: written(to) })),
    ...removed.map(plan => ({ id: planId(plan), from: written(plan), to: undefined })),
  ];
}

test('IPT-2 restores of changes leave the rules of every service port in the order of a fresh start', () =>
  fc.assert(
    fc.property(fc.array(fc.array(event, { maxLength: 6 }), { maxLength: 8 }), batches => {
      const { model, planner } = cluster();
      const [tables, fresh] = [new MemoryTables(), new MemoryTables()];
      tables.restore(fullText([], options, true));
      for (const batch of batches) {
        for (const next of batch) applyEvent(model, next);
        const changes = changesOf(planner.update(model.take()));
        const around = { size: () => 1000, all: () => [], inParts: true };
        for (const text of partialTexts(changes, { options, tail: { from: [], to: [] }, ...around }))
          tables.restore(text);
      }
      fresh.restore(fullText(planner.plans(), options, true));
      assert.deepEqual(tables.byServicePort(), fresh.byServicePort());
    }),
    { numRuns: 300, seed: 4 },
  ));
