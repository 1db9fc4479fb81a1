import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PlansOptions, plansOf, rulesFor } from '../../../../test/support/iptables-plans.ts';
import { liveShares } from '../../../../test/support/live-shares.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { chainsOf } from '../names.ts';
import { ownChains } from './service-chains.ts';

const IPS = ['10.244.1.1', '10.244.1.2', '10.244.1.3'];
const annotated = (balance: string, weights?: string) => ({
  annotations: { 'pointsman.dev/balance': balance, ...(weights && { 'pointsman.dev/weights': weights }) },
});

type Spec = Parameters<typeof service>[1];

/** The chains and rules of a Service with three endpoints. In the text, an endpoint's chain is the end of its address. */
function render(
  spec: Spec,
  options?: PlansOptions,
  endpoints: Parameters<typeof slice>[1] = IPS,
  rules: Parameters<typeof rulesFor>[1] = {},
) {
  const plans = plansOf({ services: [service('web', spec)], slices: [slice('web-1', endpoints)] }, options);
  const [plan = assert.fail()] = plans;
  const own = ownChains(plan, rulesFor('IPv4', rules), false);
  const { svc, svl, sep } = chainsOf(plan);
  const all = new Set([...plan.endpoints.cluster, ...plan.endpoints.local]);
  const names = new Map([...all].map(endpoint => [sep(endpoint), endpoint.ip.slice(-2)]));
  const short = (text: string) => text.replace(/KUBE-SEP-\w+/g, name => names.get(name) ?? name);
  const rulesOf = (chain: string) =>
    own.rules.filter(rule => rule.startsWith(`-A ${chain} `)).map(rule => short(rule.slice(`-A ${chain} `.length)));
  return { svc: rulesOf(svc).filter(rule => !rule.includes('MARK')), svl: rulesOf(svl), chains: own.chains.map(short) };
}

const chance = (text: string) => `-m statistic --mode random --probability ${text} -j`;
const nth = (every: number) => `-m statistic --mode nth --every ${every} --packet 0 -j`;
const EVEN = [`${chance('0.3333333333')} .1`, `${chance('0.5000000000')} .2`, '-j .3'];

describe('weights', () => {
  test('BALANCE-40 a rule has the chance of its weight among those that are left', () => {
    const { svc } = render(annotated('weighted', '10.244.1.1=1,10.244.1.2=2,10.244.1.3=3'));
    assert.deepEqual(svc, [`${chance('0.1666666667')} .1`, `${chance('0.4000000000')} .2`, '-j .3']);
  });

  test('BALANCE-40 shares of a moment count like weights, also of a Service without annotations', () => {
    const live = liveShares({ '10.244.1.3': 0.1 });
    const expected = [`${chance('0.4761904762')} .1`, `${chance('0.9090909091')} .2`, '-j .3'];
    assert.deepEqual(render({}, { live }).svc, expected);
    assert.deepEqual(render(annotated('random'), { live }).svc, expected);
    assert.deepEqual(render(annotated('round-robin'), { live }).svc, expected);
  });

  test('BALANCE-40 with equal weights the rules are those of a Service without annotations', () => {
    const plain = render({});
    assert.deepEqual(plain.svc, EVEN);
    for (const spec of [annotated('random'), annotated('weighted'), annotated('weighted', '10.244.1.1=1')]) {
      assert.deepEqual(render(spec), plain);
    }
  });

  test('BALANCE-40 the smallest weight keeps the smallest chance that the kernel knows', () => {
    const zones = { 'pointsman.dev/zone-weights': 'a=1000,b=1' };
    const { annotations } = annotated('weighted', '10.244.1.1=1,10.244.1.2=1000');
    const endpoints = Array.from({ length: 3000 }, (_, i) => {
      return { ip: `10.244.${1 + (i >> 8)}.${i & 255}`, zone: i === 257 ? 'b' : 'a' };
    });
    const { svc } = render({ annotations: { ...annotations, ...zones } }, {}, endpoints);
    const chances = svc.flatMap(rule => /--probability (\S+)/.exec(rule)?.[1] ?? []);
    assert.equal(chances.length, endpoints.length - 1);
    assert.ok(chances.every(text => Number(text) >= 4e-10 && Number(text) < 1));
  });

  test('BALANCE-41 an endpoint with weight 0 has no rule and no chain', () => {
    const { svc, chains } = render(annotated('weighted', '10.244.1.2=0,10.244.1.3=3'));
    assert.deepEqual(svc, [`${chance('0.2500000000')} .1`, '-j .3']);
    assert.deepEqual(chains.slice(1), ['.1', '.3']);
  });

  test('BALANCE-41 if all endpoints of a chain have weight 0, each has the same chance', () => {
    assert.deepEqual(render(annotated('weighted', IPS.map(ip => `${ip}=0`).join())).svc, EVEN);
    const local = { ...annotated('weighted', '10.244.1.1=0'), externalTrafficPolicy: 'Local', type: 'NodePort' };
    const endpoints = [{ ip: '10.244.1.1', nodeName: 'node-a' }, '10.244.1.2'];
    const { svc, svl, chains } = render({ ...local, ports: [{ nodePort: 30080 }] }, {}, endpoints);
    assert.deepEqual([svc, svl], [['-j .2'], ['-j .1']]);
    assert.deepEqual(chains.slice(-2), ['.1', '.2']);
  });

  test('BALANCE-41 a client with session affinity keeps an endpoint with weight 0', () => {
    const spec = { sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: 60 };
    const { svc, chains } = render({ ...spec, ...annotated('weighted', '10.244.1.2=0') });
    const recent = (sep: string) => `-m recent --name ${sep} --rcheck --seconds 60 --reap -j ${sep}`;
    const rules = [`${chance('0.5000000000')} .1`, '-j .3'];
    assert.deepEqual(svc, [recent('.1'), recent('.2'), recent('.3'), ...rules]);
    assert.deepEqual(chains.slice(1), ['.1', '.2', '.3']);
  });
});

describe('turns', () => {
  test('BALANCE-42 each rule takes every n-th of the connections that reach it', () => {
    assert.deepEqual(render(annotated('round-robin')).svc, [`${nth(3)} .2`, `${nth(2)} .3`, '-j .1']);
  });

  test('BALANCE-42 endpoints without a share are left out of the turns', () => {
    const live = liveShares({ '10.244.1.1': 0 });
    assert.deepEqual(render(annotated('round-robin'), { live }).svc, [`${nth(2)} .2`, '-j .3']);
  });

  test('BALANCE-42 clients with session affinity come before the turns', () => {
    const { svc } = render({ sessionAffinity: 'ClientIP', ...annotated('round-robin') });
    assert.deepEqual(svc.slice(3), [`${nth(3)} .2`, `${nth(2)} .3`, '-j .1']);
    assert.ok(svc.slice(0, 3).every(rule => rule.startsWith('-m recent ')));
  });
});

test('BALANCE-44 without counters that last, the rules of round-robin are those of a Service without annotations', () => {
  const machine = { keepsTurns: false };
  assert.deepEqual(render(annotated('round-robin'), {}, IPS, { machine }).svc, EVEN);
});

test('BALANCE-43 with an algorithm that the mode does not have, the rules are those of a Service without annotations', () => {
  const overrides = { algorithms: ['random', 'round-robin', 'weighted'] as const };
  for (const algorithm of ['least-connections', 'consistent-hash']) {
    assert.deepEqual(render(annotated(algorithm), { overrides }), render({}));
  }
});
