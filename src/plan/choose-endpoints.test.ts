import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { type Endpoint, Model, type ServicePort } from '../model/index.ts';
import { chooseEndpoints, reachableEndpoints } from './choose-endpoints.ts';
import { explainEndpoints, explainTopology } from './explain-endpoints.ts';

const NODE = { name: 'node-a', zone: 'zone-a' };

type Input = Exclude<Parameters<typeof slice>[1][number], string>;

const ready = (n: number, more: Omit<Input, 'ip'> = {}): Input => ({ ip: `10.1.2.${n}`, ready: true, ...more });
const unready = (n: number, more: Omit<Input, 'ip'> = {}): Input => ({
  ip: `10.1.2.${n}`,
  ready: false,
  serving: false,
  ...more,
});
const terminating = (n: number, more: Omit<Input, 'ip'> = {}): Input => ({
  ip: `10.1.2.${n}`,
  ready: false,
  serving: true,
  terminating: true,
  ...more,
});
const here = { nodeName: 'node-a' };
const zone = (...zoneHints: string[]) => ({ zoneHints });

/** `policies` is `internal` or `internal/external`. With an external policy the Service has a node port. */
function build(policies: string, inputs: readonly Input[]): { endpoints: readonly Endpoint[]; port: ServicePort } {
  const [internal = 'Cluster', external] = policies.split('/');
  const model = new Model({
    family: 'IPv4',
    nodeName: NODE.name,
    startedAt: 0,
    report: problem => assert.fail(problem.message),
  });
  model.setService(
    service('s', {
      type: external ? 'NodePort' : 'ClusterIP',
      internalTrafficPolicy: internal,
      externalTrafficPolicy: external ?? '',
      ports: [{ nodePort: external ? 30000 : 0 }],
    }),
  );
  model.setEndpointSlice(slice('s-1', inputs));
  model.take();
  const state = model.service('default/s');
  const port = state?.ports[0];
  assert.ok(port);
  return { endpoints: state?.endpoints[0]?.endpoints ?? [], port };
}

const numbers = (endpoints: readonly Endpoint[]) => endpoints.map(({ ip }) => Number(ip.split('.')[3]));

interface Case {
  readonly what: string;
  readonly policies?: string;
  readonly node?: typeof NODE;
  readonly endpoints: readonly Input[];
  readonly cluster: readonly number[];
  readonly local?: readonly number[];
  readonly reachable?: readonly number[];
  readonly has?: boolean;
}

const fourZones = [
  ready(1, zone('zone-a')),
  ready(2, { ...zone('zone-b'), ...here }),
  ready(3, { ...zone('zone-b') }),
  ready(4, { ...zone('zone-a'), ...here }),
];

const cases: readonly Case[] = [
  { what: 'PLAN-4 if all endpoints have hints, those for our zone are used', endpoints: fourZones, cluster: [1, 4] },
  {
    what: 'PLAN-3 with external policy Local, hints do not affect the local endpoints',
    policies: 'Cluster/Local',
    endpoints: fourZones,
    cluster: [1, 4],
    local: [2, 4],
    reachable: [1, 2, 4],
  },
  {
    what: 'PLAN-3 with internal policy Local, hints do not affect the local endpoints',
    policies: 'Local/Cluster',
    endpoints: fourZones,
    cluster: [1, 4],
    local: [2, 4],
    reachable: [1, 2, 4],
  },
  {
    what: 'PLAN-4 a node without a zone label uses all endpoints',
    node: { name: 'node-a', zone: '' },
    endpoints: fourZones,
    cluster: [1, 2, 3, 4],
  },
  {
    what: 'PLAN-4 a node in a zone that no hint names uses all endpoints',
    node: { name: 'node-a', zone: 'zone-c' },
    endpoints: fourZones,
    cluster: [1, 2, 3, 4],
  },
  {
    what: 'PLAN-4 an endpoint for our zone that is not ready is not used',
    endpoints: [ready(1, zone('zone-a')), unready(2, zone('zone-a')), ready(3, zone('zone-b'))],
    cluster: [1],
  },
  {
    what: 'PLAN-4 if all endpoints for our zone are unready, hints are ignored',
    endpoints: [unready(1, zone('zone-a')), ready(2, zone('zone-b')), ready(3, zone('zone-b'))],
    cluster: [2, 3],
  },
  {
    what: 'PLAN-4 if a ready endpoint has no hint, hints are ignored',
    endpoints: [ready(1, zone('zone-a')), ready(2)],
    cluster: [1, 2],
  },
  {
    what: 'PLAN-4 an unready endpoint without a hint has no effect',
    endpoints: [ready(1, zone('zone-a')), unready(2), ready(3, zone('zone-b'))],
    cluster: [1],
  },
  {
    what: 'PLAN-4 a hint may name several zones',
    endpoints: [
      ready(1, zone('zone-a', 'zone-b')),
      ready(2, zone('zone-b', 'zone-c')),
      ready(3, zone('zone-d')),
      ready(4, zone('zone-c', 'zone-a')),
    ],
    cluster: [1, 4],
  },
  {
    what: 'PLAN-4 hints for nodes go before hints for zones',
    endpoints: [
      ready(1, { ...zone('zone-a'), nodeHints: ['node-a'] }),
      ready(2, { ...zone('zone-a'), nodeHints: ['node-b'] }),
    ],
    cluster: [1],
  },
  {
    what: 'PLAN-4 if only some endpoints have hints for nodes, these are ignored',
    endpoints: [ready(1, { nodeHints: ['node-a'] }), ready(2)],
    cluster: [1, 2],
  },
  {
    what: 'PLAN-4 if no hint names our node, hints for zones count',
    endpoints: [
      ready(1, { ...zone('zone-a'), nodeHints: ['node-x'] }),
      ready(2, { ...zone('zone-b'), nodeHints: ['node-y'] }),
    ],
    cluster: [1],
  },
  {
    what: 'PLAN-5 the cluster list follows hints, the local list does not, and both are reachable',
    policies: 'Cluster/Local',
    endpoints: [ready(1, { ...zone('zone-a'), nodeName: 'node-b' }), ready(2, { ...zone('zone-b'), ...here })],
    cluster: [1],
    local: [2],
    reachable: [1, 2],
  },
  {
    what: 'PLAN-5 with internal policy Local and no endpoints, there are none',
    policies: 'Local',
    endpoints: [],
    cluster: [],
    has: false,
  },
  {
    what: 'PLAN-5 with internal policy Local and endpoints on other nodes only, endpoints exist but none is reachable',
    policies: 'Local',
    endpoints: [ready(1), ready(2)],
    cluster: [],
    has: true,
  },
  {
    what: 'PLAN-3 with internal policy Local, all endpoints on this node are used',
    policies: 'Local',
    endpoints: [ready(1, here), ready(2, here)],
    cluster: [],
    local: [1, 2],
  },
  {
    what: 'PLAN-3 with internal policy Local, endpoints on other nodes are not used',
    policies: 'Local',
    endpoints: [ready(1, here), ready(2)],
    cluster: [],
    local: [1],
  },
  {
    what: 'PLAN-2 endpoints that are not ready are not used',
    endpoints: [unready(1), unready(2)],
    cluster: [],
    has: false,
  },
  { what: 'PLAN-2 only ready endpoints are used', endpoints: [unready(1), ready(2)], cluster: [2] },
  {
    what: 'PLAN-2 if all endpoints terminate, all are used, on this node and on others',
    endpoints: [terminating(1, here), terminating(2)],
    cluster: [1, 2],
  },
  {
    what: 'PLAN-2 the fallback to terminating endpoints ignores hints',
    endpoints: [terminating(1, zone('zone-b')), terminating(2, zone('zone-a'))],
    cluster: [1, 2],
  },
  {
    what: 'PLAN-1 with internal policy Local and external policy Cluster, both lists are used',
    policies: 'Local/Cluster',
    endpoints: [ready(1, here), ready(2)],
    cluster: [1, 2],
    local: [1],
    reachable: [1, 2],
  },
  {
    what: 'PLAN-1 with internal policy Cluster and external policy Local, both lists are used',
    policies: 'Cluster/Local',
    endpoints: [ready(1, here), ready(2)],
    cluster: [1, 2],
    local: [1],
    reachable: [1, 2],
  },
  {
    what: 'PLAN-1 with both policies Local, both lists are used',
    policies: 'Local/Local',
    endpoints: [ready(1, here), ready(2)],
    cluster: [1, 2],
    local: [1],
    reachable: [1, 2],
  },
  {
    what: 'PLAN-5 with both policies Local and endpoints on other nodes only, the local list is empty',
    policies: 'Local/Local',
    endpoints: [ready(1), ready(2)],
    cluster: [1, 2],
    local: [],
  },
  {
    what: 'PLAN-5 with both policies Local and terminating endpoints on other nodes only, the local list is empty',
    policies: 'Local/Local',
    endpoints: [terminating(1), terminating(2)],
    cluster: [1, 2],
    local: [],
  },
  {
    what: 'PLAN-3 the local list falls back to terminating endpoints independent of the cluster list',
    policies: 'Cluster/Local',
    endpoints: [ready(1), terminating(2), ready(3), terminating(4, here)],
    cluster: [1, 3],
    local: [4],
    reachable: [1, 3, 4],
  },
  {
    what: 'PLAN-3 if a local endpoint is ready, terminating local endpoints are not used',
    policies: 'Cluster/Local',
    endpoints: [ready(1, here), terminating(2, here)],
    cluster: [1],
    local: [1],
  },
  {
    what: 'PLAN-1 a Service that is not externally accessible has no local list with internal policy Cluster',
    policies: 'Cluster',
    endpoints: [ready(1, here), ready(2)],
    cluster: [1, 2],
    local: [],
  },
  {
    what: 'PLAN-1 a Service that is not externally accessible has no cluster list with internal policy Local',
    policies: 'Local',
    endpoints: [ready(1), ready(2, here)],
    cluster: [],
    local: [2],
  },
  { what: 'PLAN-5 a Service without endpoints has none', endpoints: [], cluster: [], has: false },
  {
    what: 'PLAN-2 an endpoint that is neither ready nor serving is not used',
    endpoints: [unready(1)],
    cluster: [],
    has: false,
  },
  {
    what: 'PLAN-2 an endpoint that serves but is neither ready nor terminating is not used',
    endpoints: [{ ip: '10.1.2.1', ready: false, serving: true }],
    cluster: [],
    has: false,
  },
  {
    what: 'PLAN-2 a terminating endpoint that no longer serves is not used',
    endpoints: [terminating(1, { serving: false })],
    cluster: [],
    has: false,
  },
];

describe('the endpoints that a service port uses', () => {
  for (const { what, policies = 'Cluster', node = NODE, endpoints: inputs, cluster, local = [], ...want } of cases) {
    test(what, () => {
      const { endpoints, port } = build(policies, inputs);
      const chosen = chooseEndpoints(endpoints, port, node);
      assert.deepEqual(numbers(chosen.cluster), cluster);
      assert.deepEqual(numbers(chosen.local), local);
      assert.deepEqual(numbers(reachableEndpoints(chosen)), want.reachable ?? (cluster.length > 0 ? cluster : local));
      assert.equal(chosen.hasEndpoints, want.has ?? (cluster.length > 0 || local.length > 0));
    });
  }
});

describe('the reasons for the choice', () => {
  const reasons = (policies: string, inputs: readonly Input[], node = NODE) => {
    const { endpoints, port } = build(policies, inputs);
    return explainEndpoints(endpoints, port, node).map(({ cluster, local }) => [cluster?.reason, local?.reason]);
  };

  test('PLAN-14 each endpoint has a reason for each list', () => {
    const inputs = [ready(1), unready(2), terminating(3, here), terminating(4, { serving: false }), ready(5, here)];
    assert.deepEqual(reasons('Cluster/Local', inputs), [
      ['ready', 'on another node'],
      ['not ready', 'not ready'],
      ['terminating', 'terminating'],
      ['no longer serving', 'no longer serving'],
      ['ready', 'ready'],
    ]);
  });

  test('BALANCE-74 an endpoint that the plan leaves out has the reason that connections failed', () => {
    const { endpoints, port } = build('Cluster/Local', [ready(1), ready(2, here)]);
    const cluster = endpoints.slice(1);
    const explained = explainEndpoints(endpoints, port, NODE, {
      endpoints: { cluster, local: cluster, hasEndpoints: true },
      balance: undefined,
    });
    assert.deepEqual(
      explained.map(explanation => [explanation.cluster?.reason, explanation.local?.reason]),
      [
        ['its connections failed', 'on another node'],
        ['ready', 'ready'],
      ],
    );
    assert.equal(explained[0]?.cluster?.used, false);
  });

  test('PLAN-14 the reason for a terminating endpoint that is used says that none is ready', () => {
    assert.deepEqual(reasons('Cluster/Local', [terminating(1, here), terminating(2)]), [
      ['terminating, but none is ready', 'terminating, but none is ready'],
      ['terminating, but none is ready', 'on another node'],
    ]);
  });

  test('PLAN-14 an endpoint that hints exclude has hints as the reason', () => {
    assert.deepEqual(
      reasons('Cluster', fourZones).map(([cluster]) => cluster),
      ['ready', 'hinted for other zones', 'hinted for other zones', 'ready'],
    );
    const byNode = [ready(1, { nodeHints: ['node-a'] }), ready(2, { nodeHints: ['node-b'] })];
    assert.deepEqual(
      reasons('Cluster', byNode).map(([cluster]) => cluster),
      ['ready', 'hinted for other nodes'],
    );
  });

  test('PLAN-14 a list that no policy uses has no reasons', () => {
    assert.deepEqual(reasons('Cluster', [ready(1)]), [['ready', undefined]]);
    assert.deepEqual(reasons('Local', [ready(1, here)]), [[undefined, 'ready']]);
  });

  const notes: [string, readonly Input[], typeof NODE, string | undefined][] = [
    ['no hints', [ready(1)], NODE, undefined],
    ['zone', fourZones, NODE, 'hints: endpoints for zone zone-a only'],
    ['node', [ready(1, { nodeHints: ['node-a'] })], NODE, 'hints: endpoints for node node-a only'],
    ['one unhinted', [ready(1, zone('zone-a')), ready(2)], NODE, 'hints ignored: some ready endpoints have none'],
    ['no zone label', fourZones, { name: 'node-a', zone: '' }, 'hints ignored: node node-a has no zone label'],
    ['other zone', fourZones, { name: 'node-a', zone: 'zone-x' }, 'hints ignored: none is for zone zone-x'],
    ['other node', [ready(1, { nodeHints: ['node-x'] })], NODE, 'hints ignored: none is for node node-a'],
  ];
  for (const [what, inputs, node, want] of notes) {
    test(`PLAN-14 the effect of hints is explained: ${what}`, () => {
      const { endpoints, port } = build('Cluster', inputs);
      assert.equal(explainTopology(endpoints, port, node), want);
    });
  }
});
