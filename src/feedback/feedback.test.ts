import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { service, slice } from '../../test/support/objects.ts';
import { ANNOTATION_SLOW_START } from '../api/index.ts';
import { DEFAULT_PLAN_SETTINGS, slotsOf } from '../plan/index.ts';
import { ProxyState } from '../proxy/index.ts';
import { Feedback } from './feedback.ts';

const A = '10.244.1.1';
const B = '10.244.1.2';

/** The state of a proxy with feedback. Services that are to be planned again are planned at once. */
function setUp() {
  const clock = new ManualClock();
  const replanned: string[] = [];
  const feedback = new Feedback({
    clock,
    replan(family, key) {
      replanned.push(`${clock.elapsed()} ${family} ${key}`);
      state.replan(family, key);
      state.takeFamily(family);
    },
    plansOf: (family, key) => state.family(family).planner.plansOf(key),
    onError: (action, error) => assert.fail(`could not ${action}: ${error}`),
  });
  const report = () => {};
  const state: ProxyState = new ProxyState({
    nodeName: 'node-a',
    settings: DEFAULT_PLAN_SETTINGS,
    startedAt: 0,
    report,
    feedback,
  });
  const setEndpoints = (ips: readonly string[]) => {
    state.endpointSliceChanged({ type: 'added', to: slice('web-1', ips) });
    state.take();
  };
  const slots = () => {
    const [plan] = state.family('IPv4').planner.plansOf('default/web');
    return plan ? slotsOf(plan).cluster.map(({ ip }) => ip) : [];
  };
  const count = (ip: string) => slots().filter(slot => slot === ip).length;
  return { clock, replanned, feedback, state, setEndpoints, slots, count };
}

test('BALANCE-61 a new endpoint of a Service gets more slots from step to step', async () => {
  const { clock, state, setEndpoints, count, slots, replanned } = setUp();
  state.serviceChanged({ type: 'added', to: service('web', { annotations: { [ANNOTATION_SLOW_START]: '20' } }) });
  setEndpoints([A]);
  assert.deepEqual(slots(), [A]);
  setEndpoints([A, B]);
  const seen: string[] = [];
  for (let second = 0; second <= 20; second += 2) {
    seen.push(`${count(B)}/${count(A)}`);
    await clock.advance(2000);
  }
  assert.deepEqual(seen, ['1/10', '1/5', '3/10', '2/5', '1/2', '3/5', '7/10', '4/5', '9/10', '1/1', '1/1']);
  assert.equal(replanned.length, 9);
  assert.equal(clock.pending, 0);
});

test('BALANCE-61 the endpoints of a new Service are not slowed, although they came before the Service', () => {
  const { clock, state, setEndpoints, slots } = setUp();
  setEndpoints([A]);
  state.serviceChanged({ type: 'added', to: service('web', { annotations: { [ANNOTATION_SLOW_START]: '20' } }) });
  setEndpoints([A, B]);
  assert.deepEqual(slots(), [A, B]);
  assert.equal(clock.pending, 0);
});

test('BALANCE-61 shares change at most once a second', async () => {
  const { clock, state, setEndpoints, replanned } = setUp();
  state.serviceChanged({ type: 'added', to: service('web', { annotations: { [ANNOTATION_SLOW_START]: '3' } }) });
  setEndpoints([A]);
  setEndpoints([A, B]);
  await clock.advance(10_000);
  assert.deepEqual(
    replanned,
    [300, 1300, 2300, 3300].map(at => `${at} IPv4 default/web`),
  );
});

test('BALANCE-60 a Service without annotations is not watched and has no timer', () => {
  const { clock, feedback, state, setEndpoints } = setUp();
  state.serviceChanged({ type: 'added', to: service('web') });
  setEndpoints([A]);
  setEndpoints([A, B]);
  assert.equal(clock.pending, 0);
  assert.equal(feedback.of('IPv4').of('default/web/TCP'), undefined);
  const [plan] = state.family('IPv4').planner.plansOf('default/web');
  assert.equal(plan?.balance, undefined);
});

test('BALANCE-60 a Service that is gone, or no longer asks, is not watched any more', () => {
  const { clock, feedback, state, setEndpoints } = setUp();
  const slow = service('web', { annotations: { [ANNOTATION_SLOW_START]: '20' } });
  const watched = () => feedback.of('IPv4').of('default/web/TCP') !== undefined;
  for (const end of [
    { type: 'updated', from: slow, to: service('web') } as const,
    { type: 'removed', from: slow } as const,
  ]) {
    state.serviceChanged({ type: 'added', to: slow });
    setEndpoints([A]);
    setEndpoints([A, B]);
    assert.deepEqual([watched(), clock.pending], [true, 1]);
    state.serviceChanged(end);
    state.take();
    assert.deepEqual([watched(), clock.pending], [false, 0]);
  }
});
