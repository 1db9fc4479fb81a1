import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { planOf } from '../../../test/support/plans.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { type Prepared, prepare } from './diff.ts';
import { NO_LEFTOVERS } from './kernel-state/leftovers.ts';
import { UseCounts } from './kernel-state/use-counts.ts';
import { layoutOf } from './table/layout.ts';
import { RenderContext } from './table/shared-chains.ts';

const context = new RenderContext(layoutOf('IPv4'), modeSettingsFor('IPv4'));

/** What the transactions of a change do, after the first plan was written. */
function preparedChange(from: ServicePortPlan, to: ServicePortPlan | undefined): Prepared {
  const useCounts = new UseCounts();
  const present = { leftovers: NO_LEFTOVERS };
  useCounts.apply(prepare(context, useCounts, present, [{ id: 'web', from: undefined, to: from }]).useCounts);
  return prepare(context, useCounts, present, [{ id: 'web', from, to }]);
}

/** The elements that the last two transactions delete, by set. */
function deletions(from: ServicePortPlan, to: ServicePortPlan | undefined): readonly (readonly string[])[] {
  const { transaction, afterwards } = preparedChange(from, to);
  return [transaction, afterwards].map(each =>
    [...`${each}`.matchAll(/^delete element ip kube-proxy (\S+)/gm)].map(([, set]) => set ?? '').sort(),
  );
}

describe('NFT-57 packets on their way', () => {
  const three = planOf('web', ['10.244.1.1', '10.244.1.2', '10.244.1.3']);

  test('NFT-57 with fewer endpoints, the slots and the chain that the old number needs go afterwards', () => {
    assert.deepEqual(deletions(three, planOf('web', ['10.244.1.1', '10.244.1.2'])), [
      ['service-numbers'],
      ['cluster-endpoints', 'targets'],
    ]);
  });

  test('NFT-57 an endpoint that is replaced needs one transaction', () => {
    const other = planOf('web', ['10.244.1.1', '10.244.1.2', '10.244.1.4']);
    assert.deepEqual(deletions(three, other), [['cluster-endpoints'], []]);
  });

  test('NFT-57 a chain that a Service needs for the first time comes beforehand, and the way to it later', () => {
    const endpoints = Array.from({ length: 12 }, (_, i) => `10.244.1.${i + 1}`);
    const { beforehand, transaction } = preparedChange(three, planOf('web', endpoints));
    assert.match(`${beforehand}`, /^add chain ip kube-proxy pick-cluster-12$/m);
    assert.match(`${beforehand}`, /^add rule ip kube-proxy pick-cluster-12 /m);
    assert.doesNotMatch(`${beforehand}`, /element/);
    assert.doesNotMatch(`${transaction}`, /(chain|rule) ip/);
    assert.match(`${transaction}`, /^add element ip kube-proxy targets .* pick-cluster-12 /m);
  });

  test('NFT-57 a new Service needs one transaction', () => {
    const present = { leftovers: NO_LEFTOVERS };
    const { beforehand } = prepare(context, new UseCounts(), present, [{ id: 'web', from: undefined, to: three }]);
    assert.ok(beforehand.isEmpty);
  });

  test('NFT-57 a Service that goes needs one transaction', () => {
    const [first = [], second] = deletions(three, undefined);
    assert.ok(first.includes('cluster-endpoints'));
    assert.deepEqual(second, []);
  });
});
