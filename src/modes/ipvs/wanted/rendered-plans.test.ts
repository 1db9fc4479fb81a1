import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyEvent, clusterEvent, survivors } from '../../../../test/support/cluster-events.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { planOf } from '../../../../test/support/plans.ts';
import { type Endpoint, Model, parseNodePortAddresses } from '../../../model/index.ts';
import type { Ip } from '../../../net/index.ts';
import { Planner, type ServicePortPlan } from '../../../plan/index.ts';
import { SET_KEYS } from '../names.ts';
import { renderContext } from '../render.ts';
import { RenderedPlans } from './rendered-plans.ts';

const contextWith = (...nodeIPs: string[]) =>
  renderContext({
    family: 'IPv4',
    scheduler: 'rr',
    settings: { nodePortAddresses: parseNodePortAddresses('IPv4', []), nodePortIPs: [] },
    nodeIPs: nodeIPs as Ip[],
  });

class Following {
  readonly plans = new RenderedPlans(contextWith('192.168.0.2'));
  readonly model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  readonly #planner = new Planner(this.model, {
    node: { name: 'node-a', zone: 'zone-a' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: undefined,
    masqueradeAll: false,
    allowExternalIPs: true,
  });

  take(): void {
    this.plans.take(this.#planner.update(this.model.take()));
  }

  /** All wanted objects, sorted. */
  state() {
    const { wanted } = this.plans;
    return {
      servers: [...wanted.serverIds()].sort().map(id => {
        const server = wanted.server(id);
        return [id, server?.service.scheduler, server?.service.timeout, server?.endpoints.map(({ text }) => text)];
      }),
      sets: SET_KEYS.map(set => [...wanted.elementNames(set)].sort()),
      drops: wanted.drops(),
    };
  }
}

describe('wanted objects', () => {
  test('IPVS-20 wanted objects follow from the objects that exist, whatever events came before', () => {
    fc.assert(
      fc.property(fc.array(fc.array(clusterEvent, { maxLength: 4 }), { maxLength: 8 }), batches => {
        const followed = new Following();
        for (const [i, events] of batches.entries()) {
          for (const event of events) applyEvent(followed.model, event);
          followed.take();
          followed.plans.setContext(i % 2 === 0 ? contextWith('192.168.0.2', '1.1.1.1') : contextWith('192.168.0.2'));
        }
        followed.plans.setContext(contextWith('192.168.0.2'));
        const fresh = new Following();
        for (const event of survivors(batches.flat())) applyEvent(fresh.model, event);
        fresh.take();
        assert.deepEqual(followed.state(), fresh.state());
      }),
    );
  });

  test('IPVS-20 an address stays until the last service port that has it is removed', () => {
    const one = new Following();
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ];
    one.model.setService(service('s', { clusterIP: '10.96.0.1', ports }));
    one.take();
    assert.equal(one.plans.wanted.isEmpty('ipvsIPs'), false);
    one.model.setService(service('s', { clusterIP: '10.96.0.1', ports: ports.slice(1) }));
    one.take();
    assert.deepEqual([...one.plans.wanted.elementNames('ipvsIPs')], ['10.96.0.1']);
    one.model.deleteService('default/s');
    one.take();
    assert.equal(one.plans.wanted.isEmpty('ipvsIPs'), true);
  });

  test('IPVS-20 an external address has the virtual server if it meets a node port', () => {
    const one = new Following();
    one.model.setService(service('a', { clusterIP: '10.96.0.1', ports: [{ nodePort: 30080 }] }));
    one.model.setService(
      service('b', { clusterIP: '10.96.0.2', externalIPs: ['192.168.0.2'], ports: [{ port: 30080 }] }),
    );
    one.take();
    assert.equal(one.plans.wanted.planOf('-t 192.168.0.2:30080')?.service, 'default/b');
    one.model.deleteService('default/b');
    one.take();
    assert.equal(one.plans.wanted.planOf('-t 192.168.0.2:30080')?.service, 'default/a');
  });

  test('IPVS-2 only objects of changed service ports count as changed', () => {
    const one = new Following();
    for (const name of ['a', 'b'])
      one.model.setService(service(name, { clusterIP: `10.96.0.${name === 'a' ? 1 : 2}` }));
    one.take();
    one.plans.wanted.takeChanged();
    one.model.setEndpointSlice(slice('b-1', ['10.0.0.1']));
    one.take();
    assert.deepEqual([...one.plans.wanted.takeChanged().servers], ['-t 10.96.0.2:80']);
    assert.equal(one.plans.wanted.takeChanged().servers.size, 0);
  });
});

describe('plans that cannot be prepared', () => {
  const broken = (plan: ServicePortPlan): ServicePortPlan =>
    Object.defineProperty({ ...plan }, 'frontends', {
      get: () => {
        throw new Error('no frontends');
      },
    });
  const added = (...plans: ServicePortPlan[]) => ({ added: plans, updated: [], removed: [] });

  test('MODE-10 a plan that cannot be rendered leaves its last good version and all others in place', () => {
    const plans = new RenderedPlans(contextWith('192.168.0.2'));
    const bad = planOf('bad', ['10.244.1.1']);
    plans.take(added(bad));
    const before = [...plans.wanted.serverIds()];
    plans.take({ added: [], updated: [{ from: bad, to: broken(bad) }], removed: [] });
    assert.deepEqual([...plans.wanted.serverIds()], before);
    assert.deepEqual(plans.failed, new Map([['default/bad/TCP', new Error('no frontends')]]));
    plans.take({ added: [], updated: [], removed: [bad] });
    assert.deepEqual([[...plans.wanted.serverIds()], plans.failed], [[], new Map()]);
  });

  test('MODE-10 a plan whose objects cannot be encoded is left out; without such a plan the error is thrown', () => {
    const plans = new RenderedPlans(contextWith('192.168.0.2'));
    const bad = planOf('bad', ['10.244.1.1']);
    const ip = 'no address' as Ip;
    plans.take(added(planOf('good', ['10.244.1.2']), { ...bad, onNode: [{ ...onlyEndpoint(bad), ip }] }));
    plans.leaveOutFailing(new Error('cannot encode'));
    assert.deepEqual([...plans.failed.keys()], ['default/bad/TCP']);
    assert.equal(plans.wanted.isEmpty('loopBack'), true);
    assert.equal(plans.wanted.server('-t 10.96.0.1:80')?.endpoints[0]?.text, '10.244.1.2:8080');
    assert.throws(() => plans.leaveOutFailing(new Error('cannot encode')), /cannot encode/);
  });
});

function onlyEndpoint({ endpoints }: ServicePortPlan): Endpoint {
  const [endpoint] = endpoints.cluster;
  return endpoint ?? assert.fail('the plan has no endpoint');
}
