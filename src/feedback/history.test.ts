import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FeedbackLab } from '../../test/support/feedback-lab.ts';
import { service, slice } from '../../test/support/objects.ts';
import { ANNOTATION_BALANCE, ANNOTATION_EJECT_AFTER, ANNOTATION_SLOW_START } from '../api/index.ts';
import { ALGORITHMS } from '../model/index.ts';
import { FAMILIES } from '../net/index.ts';
import { type ServicePortPlan, slotsOf } from '../plan/index.ts';

const NAMES = ['a', 'b'];
const IPS = [1, 2, 3, 4].map(n => `10.0.0.${n}`);
const MINUTE_MS = 60_000;

const name = fc.constantFrom(...NAMES);
const annotations = fc.record(
  {
    [ANNOTATION_BALANCE]: fc.constantFrom(...ALGORITHMS),
    [ANNOTATION_SLOW_START]: fc.constantFrom('0', '5', '60'),
    [ANNOTATION_EJECT_AFTER]: fc.constantFrom('0', '1', '2'),
  },
  { requiredKeys: [] },
);
const ports = fc.subarray(
  [
    { name: 'x', port: 80 },
    { name: 'y', port: 81 },
  ],
  { minLength: 1 },
);
const step = fc.oneof(
  fc.record({ kind: fc.constant('service' as const), name, annotations, ports }),
  fc.record({ kind: fc.constant('endpoints' as const), name, ips: fc.subarray(IPS) }),
  fc.record({ kind: fc.constant('delete' as const), name }),
  fc.record({ kind: fc.constant('refuse' as const), ip: fc.constantFrom(...IPS) }),
  fc.record({ kind: fc.constant('accept' as const), ip: fc.constantFrom(...IPS) }),
  fc.record({ kind: fc.constant('call' as const), ip: fc.constantFrom(...IPS) }),
  fc.record({ kind: fc.constant('connect' as const), ips: fc.array(fc.constantFrom(...IPS), { maxLength: 20 }) }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(100, 1000, 7000, 30_000) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function endpointsOf(owner: string, ips: readonly string[]) {
  const named = (port: string) => ({ name: port, protocol: 'TCP' as const, port: 8080 });
  return slice(`${owner}-1`, ips, { addressType: 'IPv4', ports: [named('x'), named('y')] });
}

async function take(lab: FeedbackLab, step: Step): Promise<void> {
  const { state, clock } = lab;
  switch (step.kind) {
    case 'service': {
      const { annotations, ports } = step;
      const clusterIP = `10.96.0.${NAMES.indexOf(step.name) + 1}`;
      state.serviceChanged({ type: 'added', to: service(step.name, { clusterIP, annotations, ports }) });
      break;
    }
    case 'endpoints':
      state.endpointSliceChanged({ type: 'added', to: endpointsOf(step.name, step.ips) });
      break;
    case 'delete':
      state.serviceChanged({ type: 'removed', from: service(step.name) });
      break;
    case 'refuse':
      lab.refuse(step.ip);
      break;
    case 'accept':
      lab.accept(step.ip);
      break;
    case 'call':
      lab.call(step.ip);
      break;
    case 'connect':
      lab.flows = step.ips.map(ip => lab.flow(ip));
      break;
    case 'wait':
      await clock.advance(step.ms);
  }
  state.take();
}

/** The slots of all service ports. */
function slots({ state }: FeedbackLab): readonly string[] {
  const text = (plan: ServicePortPlan) =>
    `${plan.service} ${plan.port.name} ${plan.balance?.algorithm}: ${slotsOf(plan).cluster.map(({ ip }) => ip)}`;
  return FAMILIES.flatMap(family => Array.from(state.family(family).planner.plans(), text)).toSorted();
}

test('BALANCE-60 when nothing happens any more, plans are those of a new process, and nothing stays without Services', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const lab = new FeedbackLab({ needsConnectionFeedback: true });
      for (const step of steps) await take(lab, step);
      lab.flows = [];
      for (let i = 0; i < 12; i++) await lab.clock.advance(MINUTE_MS);
      const fresh = new FeedbackLab({ needsConnectionFeedback: true });
      for (const step of steps) if (['service', 'endpoints', 'delete'].includes(step.kind)) await take(fresh, step);
      await fresh.clock.advance(10 * MINUTE_MS);
      assert.deepEqual(slots(lab), slots(fresh));
      for (const name of NAMES) await take(lab, { kind: 'delete', name });
      await lab.clock.advance(MINUTE_MS);
      assert.deepEqual([lab.clock.pending, lab.openTables, lab.isSubscribed, lab.errors], [0, 0, false, []]);
      await fresh.feedback.close();
      assert.deepEqual([fresh.clock.pending, fresh.openTables, fresh.isSubscribed], [0, 0, false]);
    }),
    { numRuns: 60, seed: 1 },
  );
});
