import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyEvent as apply, clusterEvent as event, survivors } from '../../test/support/cluster-events.ts';
import { service, slice } from '../../test/support/objects.ts';
import { type Change, latestOf } from '../lib/change.ts';
import type { Problem } from '../lib/problem.ts';
import { Model, type ServiceState } from '../model/index.ts';
import type { Family, Ip } from '../net/index.ts';
import type { Frontend } from './frontend.ts';
import { type PlanDiff, Planner } from './planner.ts';
import { type PlanOptions, planName, type ServicePortPlan } from './service-port-plan.ts';

const OPTIONS: PlanOptions = {
  node: { name: 'node-a', zone: 'zone-a' },
  nodeIP: '192.168.0.2' as Ip,
  localDetector: undefined,
  masqueradeAll: false,
  allowExternalIPs: true,
};

function create(family: Family = 'IPv4') {
  const model = new Model({ family, nodeName: 'node-a', startedAt: 0, report: () => {} });
  return { model, planner: new Planner(model, OPTIONS) };
}

const names = (diff: PlanDiff) => ({
  added: diff.added.map(planName),
  updated: diff.updated.map(({ to }) => planName(to)),
  removed: diff.removed.map(planName),
});

describe('changes of plans', () => {
  test('PLAN-12 a diff has the plans that were added, updated and removed, and no other', () => {
    const { model, planner } = create();
    const sync = () => names(planner.update(model.take()));
    model.setService(
      service('a', {
        ports: [
          { name: 'x', port: 1 },
          { name: 'y', port: 2 },
        ],
      }),
    );
    model.setService(service('b'));
    assert.deepEqual(sync(), { added: ['default/a:x', 'default/a:y', 'default/b'], updated: [], removed: [] });
    model.setEndpointSlice(slice('b-1', ['10.0.0.1']));
    assert.deepEqual(sync(), { added: [], updated: ['default/b'], removed: [] });
    model.setService(service('a', { ports: [{ name: 'x', port: 9 }] }));
    assert.deepEqual(sync(), { added: [], updated: ['default/a:x'], removed: ['default/a:y'] });
    model.deleteService('default/a');
    assert.deepEqual(sync(), { added: [], updated: [], removed: ['default/a:x'] });
    assert.deepEqual([...planner.plans()].map(planName), ['default/b']);
  });

  test('PLAN-12 endpoints that a plan does not use do not change it', () => {
    const { model, planner } = create();
    model.setService(service('a'));
    model.setEndpointSlice(slice('a-1', ['10.0.0.1']));
    planner.update(model.take());
    const [before] = planner.plansOf('default/a');
    model.setEndpointSlice(slice('a-2', [{ ip: '10.0.0.2', ready: false }]));
    const change = model.take();
    assert.deepEqual(
      change.services.map(each => latestOf(each).key),
      ['default/a'],
    );
    assert.deepEqual(names(planner.update(change)), { added: [], updated: [], removed: [] });
    assert.equal(planner.plansOf('default/a')[0], before, 'the plan is the same object');
  });

  test('PLAN-16 a plan has all endpoints of this node, usable or not', () => {
    const { model, planner } = create();
    const onNode = () => planner.plansOf('default/a')[0]?.onNode.map(({ text }) => text);
    const here = (ip: string, ready = true) => ({ ip, nodeName: 'node-a', ready, serving: ready });
    model.setService(service('a'));
    model.setEndpointSlice(slice('a-1', [here('10.0.0.1'), here('10.0.0.2', false), '10.0.0.3']));
    planner.update(model.take());
    assert.deepEqual(onNode(), ['10.0.0.1:8080', '10.0.0.2:8080']);
    model.setEndpointSlice(slice('a-1', [here('10.0.0.1'), '10.0.0.3']));
    assert.deepEqual(names(planner.update(model.take())).updated, ['default/a']);
    assert.deepEqual(onNode(), ['10.0.0.1:8080']);
  });

  test('PLAN-12 a new zone of the node changes only the plans that depend on it', () => {
    const { model, planner } = create();
    const hinted = [
      { ip: '10.0.0.1', zoneHints: ['zone-a'] },
      { ip: '10.0.0.2', zoneHints: ['zone-b'] },
    ];
    for (const name of ['a', 'b']) model.setService(service(name));
    model.setEndpointSlice(slice('a-1', hinted));
    model.setEndpointSlice(slice('b-1', ['10.0.0.3']));
    planner.update(model.take());
    const diff = planner.update(model.take(), { ...OPTIONS, node: { name: 'node-a', zone: 'zone-b' } });
    assert.deepEqual(names(diff), { added: [], updated: ['default/a'], removed: [] });
    assert.deepEqual(
      planner.plansOf('default/a')[0]?.endpoints.cluster.map(({ ip }) => ip),
      ['10.0.0.2'],
    );
  });
});

describe('a Service that cannot be planned', () => {
  test('PLAN-17 it is reported and keeps its last plans; the others are planned', () => {
    const problems: Problem[] = [];
    const { model } = create();
    const planner = new Planner(model, OPTIONS, problem => problems.push(problem));
    model.setService(service('bad', { clusterIP: '10.96.0.1' }));
    planner.update(model.take());
    const [before] = planner.plansOf('default/bad');

    model.setService(service('bad', { clusterIP: '10.96.0.2' }));
    model.setService(service('good', { clusterIP: '10.96.0.3' }));
    const { services } = model.take();
    const broken = services.map(change => (latestOf(change).key === 'default/bad' ? withBrokenPorts(change) : change));
    const diff = planner.update({ services: broken });
    assert.deepEqual(names(diff), { added: ['default/good'], updated: [], removed: [] });
    assert.deepEqual(planner.plansOf('default/bad'), [before]);
    assert.deepEqual(problems, [
      {
        kind: 'Service',
        reason: 'internal',
        object: 'Service default/bad',
        message: 'cannot be planned; its last plans stay in use: no ports',
      },
    ]);
  });

  /** The fault of a planner that no object is known to cause. */
  function withBrokenPorts(change: Change<ServiceState>): Change<ServiceState> {
    const to = Object.defineProperty({ ...latestOf(change) }, 'ports', {
      get: () => {
        throw new Error('no ports');
      },
    });
    return { type: 'added', to };
  }
});

describe('Services that want the same address', () => {
  const external = (name: string, clusterIP: string, ip = '1.1.1.1') => service(name, { clusterIP, externalIPs: [ip] });
  const places = (planner: Planner) =>
    Object.fromEntries(
      [...planner.plans()].map(plan => [plan.service, plan.frontends.map(({ kind, ip }) => `${kind} ${ip}`).join(' ')]),
    );

  test('PLAN-15 the first Service by name owns it in any order of arrival; the other keeps its other frontends and names the owner', () => {
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const { model, planner } = create();
      for (const name of order) {
        model.setService(external(name, name === 'a' ? '10.96.0.1' : '10.96.0.2'));
        planner.update(model.take());
      }
      assert.deepEqual(places(planner), {
        'default/a': 'ClusterIP 10.96.0.1 ExternalIP 1.1.1.1',
        'default/b': 'ClusterIP 10.96.0.2',
      });
      const [conflict] = planner.plansOf('default/b')[0]?.conflicts ?? [];
      assert.deepEqual([conflict?.owner, conflict?.frontend.ip], ['default/a', '1.1.1.1']);
      assert.equal(planner.conflictCount, 1);
    }
  });

  test('PLAN-15 when the owner gives it up, the next Service owns it', () => {
    const { model, planner } = create();
    model.setService(external('a', '10.96.0.1'));
    model.setService(external('b', '10.96.0.2'));
    planner.update(model.take());
    model.deleteService('default/a');
    assert.deepEqual(names(planner.update(model.take())), {
      added: [],
      updated: ['default/b'],
      removed: ['default/a'],
    });
    assert.deepEqual(places(planner), { 'default/b': 'ClusterIP 10.96.0.2 ExternalIP 1.1.1.1' });
  });

  test('PLAN-15 a Service does not get the cluster IP of another by naming it as an external IP', () => {
    const { model, planner } = create();
    model.setService(external('a', '10.96.0.1', '10.96.0.2'));
    model.setService(service('b', { clusterIP: '10.96.0.2' }));
    planner.update(model.take());
    assert.deepEqual(places(planner), { 'default/a': 'ClusterIP 10.96.0.1', 'default/b': 'ClusterIP 10.96.0.2' });
  });

  test('PLAN-15 another port or protocol of the address is no conflict; node ports may conflict too', () => {
    const { model, planner } = create();
    model.setService(
      service('a', { clusterIP: '10.96.0.1', externalIPs: ['1.1.1.1'], ports: [{ port: 80, nodePort: 30000 }] }),
    );
    model.setService(
      service('b', { clusterIP: '10.96.0.2', externalIPs: ['1.1.1.1'], ports: [{ port: 81, nodePort: 30000 }] }),
    );
    model.setService(
      service('c', {
        clusterIP: '10.96.0.3',
        externalIPs: ['1.1.1.1'],
        ports: [{ protocol: 'UDP', port: 80, nodePort: 30000 }],
      }),
    );
    planner.update(model.take());
    assert.deepEqual(places(planner), {
      'default/a': 'ClusterIP 10.96.0.1 ExternalIP 1.1.1.1 NodePort undefined',
      'default/b': 'ClusterIP 10.96.0.2 ExternalIP 1.1.1.1',
      'default/c': 'ClusterIP 10.96.0.3 ExternalIP 1.1.1.1 NodePort undefined',
    });
  });
});

const sorted = (planner: Planner): ServicePortPlan[] =>
  [...planner.plans()].sort((a, b) => (identity(a) < identity(b) ? -1 : 1));
const identity = (plan: ServicePortPlan) => `${planName(plan)}/${plan.port.protocol}`;

describe('properties of plans', () => {
  test('PLAN-12 plans that are updated step by step equal plans made at once, and the diffs add up to them', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.boolean()), { maxLength: 40 }), steps => {
        const grown = create();
        const byDiff = new Map<string, ServicePortPlan>();
        const sync = () => {
          const { added, updated, removed } = grown.planner.update(grown.model.take());
          for (const plan of removed) assert.ok(byDiff.delete(identity(plan)));
          for (const plan of added) assert.ok(!byDiff.has(identity(plan)));
          for (const { from } of updated) assert.equal(byDiff.get(identity(from)), from);
          for (const plan of [...added, ...updated.map(({ to }) => to)]) byDiff.set(identity(plan), plan);
        };
        for (const [next, syncNow] of steps) {
          apply(grown.model, next);
          if (syncNow) sync();
        }
        sync();
        const fresh = create();
        for (const next of survivors(steps.map(([next]) => next))) apply(fresh.model, next);
        fresh.planner.update(fresh.model.take());
        assert.deepEqual(sorted(grown.planner), sorted(fresh.planner));
        assert.deepEqual(
          [...byDiff.values()].sort((a, b) => (identity(a) < identity(b) ? -1 : 1)),
          sorted(fresh.planner),
        );
      }),
      { numRuns: 300 },
    );
  });

  test('PLAN-12 any order of the same objects gives the same plans', () => {
    const shuffled = fc
      .array(event, { maxLength: 25 })
      .map(survivors)
      .chain(events => fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })));
    fc.assert(
      fc.property(shuffled, orders => {
        const [one, other] = orders.map(events => {
          const stack = create();
          for (const next of events) apply(stack.model, next);
          stack.planner.update(stack.model.take());
          return sorted(stack.planner);
        });
        assert.deepEqual(one, other);
      }),
      { numRuns: 200 },
    );
  });
});

describe('looking up frontends', () => {
  test('OUTCOME-3 the planner finds every frontend by its address, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.array(event, { maxLength: 4 }), { maxLength: 6 }), batches => {
        const { model, planner } = create();
        const asked = new Map<string, Frontend>();
        for (const events of batches) {
          for (const one of events) apply(model, one);
          planner.update(model.take());
          const conflicts = [...planner.plans()].flatMap(plan => plan.conflicts);
          assert.equal(planner.conflictCount, conflicts.length);
          for (const { frontends } of planner.plans()) {
            for (const frontend of frontends) asked.set(`${frontend.ip} ${frontend.port}`, frontend);
          }
        }
        for (const { ip, port } of asked.values()) {
          for (const protocol of ['TCP', 'UDP', 'SCTP'] as const) {
            const scanned = [...planner.plans()].filter(
              plan => plan.port.protocol === protocol && plan.frontends.some(f => f.ip === ip && f.port === port),
            );
            assert.equal(planner.frontendAt(ip, port, protocol)?.plan, scanned[0]);
            const lost = [...planner.plans()].flatMap(({ port: own, conflicts }) =>
              conflicts.filter(({ frontend: f }) => own.protocol === protocol && f.ip === ip && f.port === port),
            );
            assert.equal(planner.lostFrontendsAt(ip, port, protocol).length, lost.length);
          }
          if (ip === undefined) continue;
          const there = [...planner.plans()].flatMap(({ frontends }) => frontends.filter(f => f.ip === ip));
          const found = planner.frontendsWithIP(ip).map(({ frontend }) => frontend);
          assert.deepEqual(new Set(found), new Set(there));
        }
      }),
    );
  });

  test('OUTCOME-3 a lookup among many Services takes about as long as among few', () => {
    const few = lookupMs(100);
    const many = lookupMs(20_000);
    assert.ok(many < 50 * few + 1, `${many} ms among many, ${few} ms among few; a scan would take 200 times as long`);
  });

  test('OUTCOME-3 the planner finds all frontends at an address', () => {
    const { model, planner } = create();
    const ports = [{ name: 'a' }, { name: 'b', port: 81 }];
    model.setService(service('s', { clusterIP: '10.96.0.1', ports }));
    model.setService(service('t', { clusterIP: '10.96.0.2', externalIPs: ['10.96.0.1'], ports: [{ port: 82 }] }));
    planner.update(model.take());
    const found = planner.frontendsWithIP('10.96.0.1' as Ip);
    assert.deepEqual(
      found.map(({ plan, frontend }) => `${planName(plan)} ${frontend.kind} ${frontend.port}`),
      ['default/s:a ClusterIP 80', 'default/s:b ClusterIP 81', 'default/t ExternalIP 82'],
    );
  });
});

/** The shortest time of a thousand lookups of an address that exists and of one that does not. */
function lookupMs(services: number): number {
  const { model, planner } = create();
  const ipOf = (i: number) => `10.96.${i >> 8}.${i & 255}` as Ip;
  for (let i = 0; i < services; i++) model.setService(service(`s${i}`, { clusterIP: ipOf(i) }));
  planner.update(model.take());
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now();
    for (let i = 0; i < 1000; i++) {
      assert.ok(planner.frontendAt(ipOf(i % services), 80, 'TCP'));
      assert.equal(planner.frontendsWithIP('192.0.2.1' as Ip).length, 0);
    }
    return performance.now() - start;
  });
  return Math.min(...rounds);
}
