import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { CALLERS, NodeUnderTest } from '../../../test/support/outcomes.ts';
import type { Mode } from '../../../test/traffic/modes.ts';
import { withOptions } from '../../modes/index.ts';
import { ipvs } from '../../modes/ipvs/index.ts';
import type { PlanSettings } from '../../plan/index.ts';
import { wayToChoose } from './choice.ts';

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

const BALANCE = 'pointsman.dev/balance';

/** The outcome of a connection to a Service with these annotations. */
function balanced(annotations: Readonly<Record<string, string>>, mode: Mode, plan: Partial<PlanSettings> = {}) {
  const configured = mode === 'ipvs' ? withOptions(ipvs, {}) : undefined;
  const tested = new NodeUnderTest([service('s', { annotations }), three], { mode: configured, plan });
  const outcome = tested.outcome(CALLERS.pod, '10.96.0.1 80', mode);
  assert.ok(outcome.kind === 'answered');
  const { choice: way, isSticky, endpoints, remarks } = outcome;
  const odds = endpoints.map(each => each.odds);
  return { way, isSticky, odds, texts: endpoints.map(({ text }) => text), remarks };
}

test('BALANCE-21 weights are the odds, and an endpoint with weight 0 gets no connection', () => {
  const annotations = { [BALANCE]: 'weighted', 'pointsman.dev/weights': '10.244.1.2=3,10.244.2.3=0' };
  for (const [mode, kind] of [
    ['nftables', 'random'],
    ['userspace', 'turns'],
    ['ipvs', 'turns'],
  ] as const) {
    const { way, odds, texts } = balanced(annotations, mode);
    assert.deepEqual([way, odds], [{ kind }, [0.75, 0.25]], mode);
    assert.deepEqual(texts, ['10.244.1.2:8080', '10.244.3.4:8080']);
  }
});

test('BALANCE-21 each algorithm has its way to choose, in every mode', () => {
  const kinds = (algorithm: string) =>
    (['nftables', 'ipvs', 'userspace'] as const).map(mode => balanced({ [BALANCE]: algorithm }, mode).way.kind);
  assert.deepEqual(kinds('round-robin'), ['turns', 'turns', 'turns']);
  assert.deepEqual(kinds('least-connections'), ['least-connections', 'least-connections', 'least-connections']);
  assert.deepEqual(kinds('consistent-hash'), ['hash', 'hash', 'hash']);
  assert.equal(balanced({ [BALANCE]: 'random' }, 'userspace').way.kind, 'random');
});

test('BALANCE-21 a hash of the address is sticky, and its odds are the shares of the table', () => {
  const byAddress = balanced({ [BALANCE]: 'consistent-hash' }, 'nftables');
  assert.deepEqual([byAddress.way, byAddress.isSticky], [{ kind: 'hash', by: 'client-address' }, true]);
  assert.equal(byAddress.odds.length, 3);
  for (const odds of byAddress.odds) assert.ok(odds !== undefined && Math.abs(odds - 1 / 3) < 0.05);
  const annotations = { [BALANCE]: 'consistent-hash', 'pointsman.dev/hash-by': 'client-address-and-port' };
  assert.equal(balanced(annotations, 'nftables').isSticky, false);
  assert.equal(balanced({ [BALANCE]: 'consistent-hash' }, 'ipvs').odds[0], undefined);
});

test('BALANCE-21 a remark says who chose the algorithm, and what the mode does not have', () => {
  const texts = ({ remarks }: ReturnType<typeof balanced>) =>
    remarks.filter(({ code }) => code.startsWith('balance')).map(({ code, text }) => `${code}: ${text}`);
  assert.deepEqual(texts(balanced({}, 'nftables')), []);
  assert.deepEqual(texts(balanced({ [BALANCE]: 'round-robin' }, 'nftables')), [
    'balance: an annotation of the Service asks for round-robin',
  ]);
  assert.deepEqual(texts(balanced({ [BALANCE]: 'round-robin' }, 'iptables')), [
    'balance: an annotation of the Service asks for round-robin: with iptables-legacy the choice is random',
  ]);
  assert.deepEqual(texts(balanced({}, 'nftables', { defaultAlgorithm: 'consistent-hash' })), [
    "balance: --default-balance asks for consistent-hash: a hash of the client's address chooses",
  ]);
  assert.deepEqual(texts(balanced({ [BALANCE]: 'consistent-hash' }, 'iptables', { algorithms: ['random'] })), [
    'balance-unavailable: the Service asks for consistent-hash, which this mode does not have: it chooses at random',
  ]);
});

test('BALANCE-21 in iptables mode the choice of round-robin is random while shares differ', () => {
  const annotations = { [BALANCE]: 'round-robin' };
  const { state } = new NodeUnderTest([service('s', { annotations }), three]);
  const [plan] = state.family('IPv4').planner.plansOf('default/s');
  assert.ok(plan?.balance);
  const slowed = { ...plan, balance: { ...plan.balance, weights: new Map([['10.244.1.2:8080', 0.1]]) } };
  const kinds = (limit: { readonly turnsLimit?: string }) =>
    [plan, slowed].map(each => wayToChoose({ kind: 'random', ...limit }, each).choice.kind);
  assert.deepEqual(kinds({ turnsLimit: 'sometimes' }), ['turns', 'random']);
  assert.deepEqual(kinds({}), ['turns', 'turns']);
});

test('BALANCE-21 in ipvs mode the annotation that names a scheduler wins', () => {
  const annotations = { [BALANCE]: 'round-robin', 'pointsman.dev/scheduler': 'lc' };
  assert.deepEqual(balanced(annotations, 'ipvs').way, { kind: 'scheduler', scheduler: 'lc' });
  assert.deepEqual(balanced(annotations, 'nftables').way, { kind: 'turns' });
  const weights = { [BALANCE]: 'weighted', 'pointsman.dev/weights': '10.244.1.2=3', 'pointsman.dev/scheduler': 'rr' };
  assert.equal(balanced(weights, 'ipvs').odds[0], undefined, 'rr does not know weights');
});
