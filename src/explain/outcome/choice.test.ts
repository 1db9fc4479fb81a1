import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { CALLERS, NodeUnderTest } from '../../../test/support/outcomes.ts';
import type { Mode } from '../../../test/traffic/modes.ts';
import { withOptions } from '../../modes/index.ts';
import { ipvs } from '../../modes/ipvs/index.ts';

const three = slice('s-1', ['10.244.1.2', '10.244.2.3', '10.244.3.4']);

function choice(overrides: Parameters<typeof service>[1], mode: Mode, options: { readonly scheduler?: string } = {}) {
  const configured = mode === 'ipvs' ? withOptions(ipvs, options) : undefined;
  const outcome = new NodeUnderTest([service('s', overrides), three], { mode: configured }).outcome(
    CALLERS.pod,
    '10.96.0.1 80',
    mode,
  );
  assert.ok(outcome.kind === 'answered');
  const odds = new Set(outcome.endpoints.map(each => each.odds));
  assert.equal(odds.size, 1);
  return [outcome.choice, [...odds][0], outcome.isSticky];
}

test('OUTCOME-6 endpoints that are chosen at random or take turns have equal shares', () => {
  assert.deepEqual(choice({}, 'nftables'), [{ kind: 'random' }, 1 / 3, false]);
  assert.deepEqual(choice({}, 'iptables'), [{ kind: 'random' }, 1 / 3, false]);
  assert.deepEqual(choice({}, 'userspace'), [{ kind: 'turns' }, 1 / 3, false]);
  assert.deepEqual(choice({}, 'ipvs'), [{ kind: 'turns' }, 1 / 3, false]);
});

test('OUTCOME-6 with other schedulers only the kernel knows the odds', () => {
  assert.deepEqual(choice({}, 'ipvs', { scheduler: 'lc' }), [{ kind: 'scheduler', scheduler: 'lc' }, undefined, false]);
  assert.deepEqual(choice({}, 'ipvs', { scheduler: 'sh' }), [{ kind: 'scheduler', scheduler: 'sh' }, undefined, true]);
  const annotations = { 'pointsman.dev/scheduler': 'lc' };
  assert.deepEqual(choice({ annotations }, 'ipvs'), [{ kind: 'scheduler', scheduler: 'lc' }, undefined, false]);
});

test('OUTCOME-6 with the fewest connections first only the process knows the odds', () => {
  const annotations = { 'pointsman.dev/balance': 'least-connections' };
  assert.deepEqual(choice({ annotations }, 'userspace'), [{ kind: 'least-connections' }, undefined, false]);
});

test('OUTCOME-6 session affinity has the odds of the first connection', () => {
  assert.deepEqual(choice({ sessionAffinity: 'ClientIP' }, 'nftables'), [{ kind: 'random' }, 1 / 3, true]);
});

test('OUTCOME-6 a single endpoint gets every connection', () => {
  const tested = new NodeUnderTest([service('s'), slice('s-1', ['10.244.1.2'])], {
    mode: withOptions(ipvs, { scheduler: 'lc' }),
  });
  const outcome = tested.outcome(CALLERS.pod, '10.96.0.1 80', 'ipvs');
  assert.ok(outcome.kind === 'answered');
  assert.equal(outcome.endpoints[0]?.odds, 1);
});
