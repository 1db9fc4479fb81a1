import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BALANCED } from '../../../test/support/balanced-service.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { planOf } from '../../../test/support/plans.ts';
import type { Algorithm, Endpoint } from '../../model/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { prepare } from './diff.ts';
import { NO_LEFTOVERS } from './kernel-state/leftovers.ts';
import { UseCounts } from './kernel-state/use-counts.ts';
import { render } from './render.ts';
import { layoutOf } from './table/layout.ts';
import { RenderContext } from './table/shared-chains.ts';

const BASE = 'PFISGYVC-default/web/tcp/';
const context = new RenderContext(layoutOf('IPv4'), modeSettingsFor('IPv4'));
const PLAN = planOf('web', BALANCED.IPv4.pods.slice(0, 4));

/** The plan with slots such as `abca`: each letter is an endpoint. */
function withSlots(algorithm: Algorithm, letters: string): ServicePortPlan {
  const endpoints = PLAN.endpoints.cluster;
  const slots = [...letters].map((letter): Endpoint => endpoints['abcd'.indexOf(letter)] ?? assert.fail(letter));
  return {
    ...PLAN,
    balance: {
      algorithm,
      unavailable: undefined,
      hashBy: 'client-address',
      weights: new Map(),
      isInSlowStart: false,
      slots: { cluster: slots, local: [] },
    },
  };
}

/** The commands that change the table from one plan to the other. */
function commands(from: ServicePortPlan, to: ServicePortPlan): readonly string[] {
  const useCounts = new UseCounts();
  const present = { leftovers: NO_LEFTOVERS };
  useCounts.apply(prepare(context, useCounts, present, [{ id: 'web', from: undefined, to: from }]).useCounts);
  const { transaction } = prepare(context, useCounts, present, [{ id: 'web', from, to }]);
  return `${transaction}`.trim().split('\n');
}

const SLOT_5 = '10.96.0.1 . tcp . 80 . 0x00000005';

for (const [algorithm, map, key] of [
  ['weighted', 'cluster-endpoints', SLOT_5],
  ['consistent-hash', `slots-${BASE}`, '0x00000005'],
] as const) {
  test(`BALANCE-35 with ${algorithm} a change of some slots changes only their elements`, () => {
    assert.deepEqual(commands(withSlots(algorithm, 'abcabc'), withSlots(algorithm, 'abcabd')), [
      `delete element ip kube-proxy ${map} { ${key} }`,
      `add element ip kube-proxy ${map} { ${key} : 10.244.1.4 . 8080 }`,
    ]);
  });
}

test('BALANCE-35 turns over changed slots keep their counter', () => {
  const changes = commands(withSlots('least-connections', 'abcabc'), withSlots('least-connections', 'abcabd'));
  assert.deepEqual(
    changes.map(text => text.split(' ').slice(0, 5).join(' ')),
    ['delete element ip kube-proxy cluster-endpoints', 'add element ip kube-proxy cluster-endpoints'],
  );
});

test('BALANCE-35 another number of slots replaces the rule and the elements in one transaction', () => {
  const changes = commands(withSlots('consistent-hash', 'abc'), withSlots('consistent-hash', 'abca'));
  assert.deepEqual(changes, [
    `add chain ip kube-proxy service-${BASE}`,
    `flush chain ip kube-proxy service-${BASE}`,
    `add rule ip kube-proxy service-${BASE} dnat ip to jhash ip saddr mod 4 seed 0x706d6e31 map @slots-${BASE}`,
    `add element ip kube-proxy slots-${BASE} { 0x00000003 : 10.244.1.1 . 8080 }`,
  ]);
});

/** The last number of each endpoint's address, by slot. */
function turns(letters: string): readonly (number | undefined)[] {
  const { elements } = render(context, withSlots('round-robin', letters));
  const slots = elements.filter(({ set }) => set.name === 'cluster-endpoints');
  return slots.map(({ element }) => element.data?.readUInt8(3));
}

test('BALANCE-32 turns have the order of the slots', () => {
  assert.deepEqual(turns('abcd'), [1, 2, 3, 4]);
});
