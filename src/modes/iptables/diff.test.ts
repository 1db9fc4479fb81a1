import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plansOf, rulesFor } from '../../../test/support/iptables-plans.ts';
import { service, slice } from '../../../test/support/objects.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { type DiffContext, partialTexts } from './diff.ts';
import type { RenderChange, RenderInput } from './rules/render-input.ts';

const inputFor = (plan: ServicePortPlan | undefined, withComments = true): RenderInput | undefined =>
  plan && { plan, withComments };
const change = (from: ServicePortPlan | undefined, to: ServicePortPlan | undefined): RenderChange => ({
  id: 'one',
  from: inputFor(from),
  to: inputFor(to),
});

function texts(changes: readonly RenderChange[], context: Partial<DiffContext> = {}) {
  const options = rulesFor();
  const around = { options, lastRules: { from: [], to: [] }, size: () => 1000, all: () => [], inParts: true };
  return [...partialTexts(changes, { ...around, ...context })];
}

/** The chains and rules of nat in the only restore, as lines. */
function natOf(changes: readonly RenderChange[], context?: Partial<DiffContext>): readonly string[] {
  const all = texts(changes, context);
  assert.equal(all.length, 1);
  return [...(all[0]?.table('nat') ?? [])].map(line => line.trimEnd()).slice(1, -1);
}

function filterOf(changes: readonly RenderChange[]): readonly string[] {
  return texts(changes)[0]?.table('filter').rules ?? [];
}

const svc3 = service('ns3/svc3', { clusterIP: '172.30.0.43', ports: [{ name: 'p80' }] });
const ports = [{ name: 'p80', protocol: 'TCP' as const, port: 80 }];
const planOf = (...ips: readonly string[]) => {
  const [plan] = plansOf({ services: [svc3], slices: ips.length > 0 ? [slice('ns3/svc3-1', ips, { ports })] : [] });
  assert.ok(plan);
  return plan;
};
const SVC = 'KUBE-SVC-X27LE4BHSL4DOUIK';
const [SEP1, SEP2, SEP3] = ['KUBE-SEP-BSWRHOQ77KEXZLNL', 'KUBE-SEP-DKCFIS26GWF2WLWC', 'KUBE-SEP-JVVZVJ7BSEPPRNBS'];
const MASQUERADE = `-A ${SVC} -m comment --comment "ns3/svc3:p80 cluster IP" -m tcp -p tcp -d 172.30.0.43 --dport 80 ! -s 10.0.0.0/8 -j KUBE-MARK-MASQ`;
const toEndpoint = (sep: string | undefined, ip: string, chance = '') =>
  `-A ${SVC} -m comment --comment "ns3/svc3:p80 -> ${ip}:80"${chance} -j ${sep}`;
const endpoint = (sep: string | undefined, ip: string) => [
  `-A ${sep} -m comment --comment ns3/svc3:p80 -s ${ip} -j KUBE-MARK-MASQ`,
  `-A ${sep} -m comment --comment ns3/svc3:p80 -m tcp -p tcp -j DNAT --to-destination ${ip}:80`,
];
const shared = (command: string) =>
  `${command} KUBE-SERVICES -m comment --comment "ns3/svc3:p80 cluster IP" -m tcp -p tcp -d 172.30.0.43 --dport 80 -j ${SVC}`;
const rejected = (command: string) =>
  `${command} KUBE-SERVICES -m comment --comment "ns3/svc3:p80 has no endpoints" -m tcp -p tcp -d 172.30.0.43 --dport 80 -j REJECT`;

describe('IPT-3 partial restores', () => {
  test('the restore for a new Service writes its chains, and inserts its rule at the top of the shared chain', () => {
    assert.deepEqual(natOf([change(undefined, planOf('10.0.3.1'))]), [
      `:${SVC} - [0:0]`,
      `:${SEP1} - [0:0]`,
      MASQUERADE,
      toEndpoint(SEP1, '10.0.3.1'),
      ...endpoint(SEP1, '10.0.3.1'),
      shared('-I'),
    ]);
  });

  test('the restore for a deleted Service deletes its rule and its chains', () => {
    assert.deepEqual(natOf([change(planOf('10.0.3.1'), undefined)]), [
      `:${SVC} - [0:0]`,
      `:${SEP1} - [0:0]`,
      shared('-D'),
      `-X ${SVC}`,
      `-X ${SEP1}`,
    ]);
  });

  test('the restore for a Service without endpoints adds a rule in filter and nothing in nat', () => {
    const [text] = texts([change(undefined, planOf())]);
    assert.ok(text);
    assert.equal(text.table('nat').isEmpty, true);
    assert.deepEqual(text.table('filter').rules, [rejected('-I')]);
    assert.ok(!`${text}`.includes('*nat'));
  });

  test('the restore for the first endpoint of a Service deletes the rule that rejects', () => {
    const changes = [change(planOf(), planOf('10.0.3.1'))];
    assert.deepEqual(filterOf(changes), [rejected('-D')]);
    assert.equal(natOf(changes).at(-1), shared('-I'));
  });

  test('the restore for a replaced endpoint does not touch the shared chain', () => {
    assert.deepEqual(natOf([change(planOf('10.0.3.1'), planOf('10.0.3.2'))]), [
      `:${SVC} - [0:0]`,
      `:${SEP2} - [0:0]`,
      `:${SEP1} - [0:0]`,
      MASQUERADE,
      toEndpoint(SEP2, '10.0.3.2'),
      ...endpoint(SEP2, '10.0.3.2'),
      `-X ${SEP1}`,
    ]);
  });

  test('the restore for an added endpoint does not touch the chains of the other endpoints', () => {
    const half = ' -m statistic --mode random --probability 0.5000000000';
    assert.deepEqual(natOf([change(planOf('10.0.3.2'), planOf('10.0.3.2', '10.0.3.3'))]), [
      `:${SVC} - [0:0]`,
      `:${SEP3} - [0:0]`,
      MASQUERADE,
      toEndpoint(SEP2, '10.0.3.2', half),
      toEndpoint(SEP3, '10.0.3.3'),
      ...endpoint(SEP3, '10.0.3.3'),
    ]);
  });

  test('there is no restore without changes', () => {
    assert.deepEqual(texts([]), []);
    assert.deepEqual(texts([change(planOf('10.0.3.1'), planOf('10.0.3.1'))]), []);
  });

  test('the restore writes all chains of a changed service port again if its rules lose their comments', () => {
    const plan = planOf('10.0.3.1');
    const lines = natOf([{ id: 'one', from: inputFor(plan), to: inputFor(plan, false) }]);
    assert.deepEqual(lines.slice(0, 2), [`:${SVC} - [0:0]`, `:${SEP1} - [0:0]`]);
    assert.ok(lines.includes(`-A ${SEP1} -s 10.0.3.1 -j KUBE-MARK-MASQ`));
  });

  test('the restore keeps the order of several rules of one service port', () => {
    const spec = { type: 'NodePort', ports: [{ name: 'p80', nodePort: 30000 }] };
    const [plan] = plansOf({
      services: [service('ns3/svc3', { clusterIP: '172.30.0.43', ...spec })],
      slices: [slice('ns3/svc3-1', ['10.0.3.1'], { ports })],
    });
    const inserted = natOf([change(undefined, plan)]).filter(line => line.startsWith('-I KUBE-NODEPORTS'));
    assert.equal(inserted.length, 2);
    assert.ok(inserted[1]?.includes('-d 127.0.0.0/8'), 'the rule that is inserted last comes first');
  });
});

test('IPT-2 if rules of a service port in a shared chain change, all of them are deleted and inserted in order', () => {
  const spec = (externalIPs: readonly string[]) =>
    plansOf({
      services: [service('a', { externalIPs: [...externalIPs] })],
      slices: [slice('a-1', ['10.0.3.1'])],
    })[0];
  const lines = (from: readonly string[], to: readonly string[]) =>
    natOf([change(spec(from), spec(to))])
      .filter(line => line.includes('KUBE-SERVICES'))
      .map(line => line.replace(/ .* -d (\S+) .*/, ' $1'));
  const [cluster, first, second] = ['10.96.0.1', '1.1.1.1', '2.2.2.2'];
  assert.deepEqual(lines([first, first, second], [first, second]), [
    ...[`-D ${cluster}`, `-D ${first}`, `-D ${first}`, `-D ${second}`],
    ...[`-I ${second}`, `-I ${first}`, `-I ${cluster}`],
  ]);
  assert.deepEqual(lines([first, second], [second, first]), [
    ...[`-D ${cluster}`, `-D ${first}`, `-D ${second}`],
    ...[`-I ${first}`, `-I ${second}`, `-I ${cluster}`],
  ]);
});

test('IPT-3 a changed node port does not touch the rules of addresses', () => {
  const spec = (nodePort: number) =>
    plansOf({
      services: [service('a', { type: 'NodePort', ports: [{ nodePort }] })],
      slices: [slice('a-1', ['10.0.3.1'])],
    })[0];
  const lines = natOf([change(spec(30000), spec(30001))]);
  assert.ok(lines.some(line => line.startsWith('-I KUBE-NODEPORTS')));
  assert.deepEqual(
    lines.filter(line => line.includes(' KUBE-SERVICES ')),
    [],
  );
});

function manyPlans(count: number, endpoints: number): readonly ServicePortPlan[] {
  const numbers = Array.from({ length: count }, (_, i) => i);
  return plansOf({
    services: numbers.map(i => service(`s${i}`, { clusterIP: `10.9.${i >> 8}.${i & 255}` })),
    slices: numbers.map(i =>
      slice(
        `s${i}-1`,
        Array.from({ length: endpoints }, (_, j) => `10.${j}.${i >> 8}.${i & 255}`),
      ),
    ),
  });
}

test('IPT-3 a restore writes a shared chain again if many of its rules change, and its last rule stays the last', () => {
  const plans = manyPlans(150, 1);
  const changes = plans.map(plan => change(undefined, plan));
  const all = () => plans.flatMap(plan => inputFor(plan) ?? []);
  const lines = natOf(changes, {
    size: () => 0,
    all,
    lastRules: { from: ['-A KUBE-SERVICES -j OLD'], to: ['-A KUBE-SERVICES -j LAST'] },
  });
  assert.ok(lines.includes(':KUBE-SERVICES - [0:0]'));
  const rules = lines.filter(line => /^-. KUBE-SERVICES/.test(line));
  assert.equal(rules.length, 151);
  assert.equal(rules.at(-1), '-A KUBE-SERVICES -j LAST');
  assert.deepEqual(
    rules.filter(rule => !rule.startsWith('-A')),
    [],
  );
});

test('IPT-6 rules for node port addresses are added and deleted at the end of the chain', () => {
  const lastRules = {
    from: ['-A KUBE-SERVICES -d 1', '-A KUBE-SERVICES -d 2'],
    to: ['-A KUBE-SERVICES -d 2', '-A KUBE-SERVICES -d 3'],
  };
  assert.deepEqual(natOf([], { lastRules }), ['-D KUBE-SERVICES -d 1', '-A KUBE-SERVICES -d 3']);
});

test('IPT-9 many changes are split into several restores, and the jumps to new chains come in the last one', () => {
  const plans = manyPlans(800, 3);
  const changes = plans.map(plan => change(undefined, plan));
  const all = () => plans.flatMap(plan => inputFor(plan) ?? []);
  const parts = texts(changes, { all });
  assert.ok(parts.length > 2, `${parts.length} parts`);
  for (const part of parts.slice(0, -1))
    assert.ok(!part.table('nat').rules.some(rule => rule.includes(' KUBE-SERVICES ')));
  assert.equal(texts(changes, { all, inParts: false }).length, 1);
});

test('IPT-9 few changes are split into several restores if they have many chains', () => {
  const plans = manyPlans(40, 100);
  const chainsOf = (changes: readonly RenderChange[]) => texts(changes).map(part => part.table('nat').chains.length);
  const added = chainsOf(plans.map(plan => change(undefined, plan)));
  const removed = chainsOf(plans.map(plan => change(plan, undefined)));
  for (const counts of [added, removed]) {
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      40 * 101,
    );
    assert.ok(Math.max(...counts) < 1700, `${counts} chains`);
  }
});
