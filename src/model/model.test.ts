import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import type { EndpointPort } from '../api/index.ts';
import { latestOf } from '../lib/change.ts';
import type { Problem } from '../lib/problem.ts';
import type { Family } from '../net/index.ts';
import { Model } from './model.ts';

const NODE = 'node-a';
const START = Date.parse('2026-01-01T00:00:00Z');

function create(family: Family = 'IPv4') {
  const problems: Problem[] = [];
  const model = new Model({ family, nodeName: NODE, startedAt: START, report: problem => problems.push(problem) });
  return { model, problems };
}

const changedKeys = (model: Model) =>
  model
    .take()
    .services.map(change => latestOf(change).key)
    .sort();

function portTexts(model: Model, key: string) {
  return (model.service(key)?.ports ?? []).map(({ name, port, protocol }) => `${name}:${port}/${protocol}`);
}

/** Endpoints of a Service by port name: texts with flags L(ocal) R(eady) S(erving) T(erminating). */
function endpointTexts(model: Model, key: string): Record<string, string[]> {
  const texts: Record<string, string[]> = {};
  for (const { name, protocol, endpoints } of model.service(key)?.endpoints ?? []) {
    texts[`${name}/${protocol}`] = endpoints.map(
      ({ text, isLocal, ready, serving, terminating }) =>
        `${text} ${isLocal ? 'L' : ''}${ready ? 'R' : ''}${serving ? 'S' : ''}${terminating ? 'T' : ''}`,
    );
  }
  return texts;
}

const udp = (port: number, name = ''): EndpointPort => ({ name, protocol: 'UDP', port });
const tcp = (port: number, name = ''): EndpointPort => ({ name, protocol: 'TCP', port });

describe('changes of Services', () => {
  test('MODEL-9 headless and ExternalName Services cause no change', () => {
    const { model } = create();
    model.setService(service('a', { clusterIP: 'None' }));
    model.setService(service('b', { type: 'ExternalName' }));
    assert.equal(model.pendingServices, 0);
    assert.deepEqual(changedKeys(model), []);
    assert.equal(model.healthCheckNodePorts.size, 0);
  });

  test('MODEL-9 ports are added, replaced and removed', () => {
    const { model } = create();
    const two = {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    } as const;
    for (const name of ['s1', 's2', 's3', 's4']) model.setService(service(`ns/${name}`, two));
    assert.equal(model.pendingServices, 4);
    assert.deepEqual(changedKeys(model), ['ns/s1', 'ns/s2', 'ns/s3', 'ns/s4']);
    assert.deepEqual(portTexts(model, 'ns/s1'), ['a:1/TCP', 'b:2/TCP']);
    model.setService(service('ns/s1', { ports: [{ name: 'c', port: 3 }] }));
    for (const name of ['s2', 's3', 's4']) model.deleteService(`ns/${name}`);
    assert.deepEqual(portTexts(model, 'ns/s1'), ['a:1/TCP', 'b:2/TCP'], 'the state changes with take only');
    assert.deepEqual(changedKeys(model), ['ns/s1', 'ns/s2', 'ns/s3', 'ns/s4']);
    assert.deepEqual(portTexts(model, 'ns/s1'), ['c:3/TCP']);
    assert.deepEqual(
      [...model.services()].map(({ key }) => key),
      ['ns/s1'],
    );
  });

  test('MODEL-9 a Service may change to LoadBalancer with policy Local and back', () => {
    const { model } = create();
    const plain = service('s', {
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    });
    const balanced = service('s', {
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 345,
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
    });
    const steps = [plain, balanced, balanced, plain].map(next => {
      model.setService(next);
      const names = changedKeys(model);
      return [names.length, portTexts(model, 'default/s').length, model.healthCheckNodePorts.size];
    });
    assert.deepEqual(steps, [
      [1, 2, 0],
      [1, 2, 1],
      [0, 2, 1],
      [1, 2, 0],
    ]);
  });

  test('MODEL-9 a Service that is added and deleted, or changed and changed back, between two takes is no change', () => {
    const { model } = create();
    model.setService(service('s'));
    model.deleteService('default/s');
    assert.equal(model.pendingServices, 0);
    assert.deepEqual(changedKeys(model), []);
    model.setService(service('t', { ports: [{ port: 1 }] }));
    model.take();
    model.setService(service('t', { ports: [{ port: 2 }] }));
    assert.equal(model.pendingServices, 1);
    model.setService(service('t', { ports: [{ port: 1 }] }));
    assert.equal(model.pendingServices, 0);
    assert.deepEqual(changedKeys(model), []);
    assert.deepEqual(
      [...model.services()].map(({ key }) => key),
      ['default/t'],
    );
  });

  test('MODEL-9 a change has the state before and after, and neither changes later', () => {
    const { model } = create();
    model.setService(service('s', { ports: [{ port: 1 }] }));
    const [added] = model.take().services;
    assert.ok(added?.type === 'added');
    const before = structuredClone(added.to);
    model.setService(service('s', { ports: [{ port: 2 }] }));
    const [updated] = model.take().services;
    assert.ok(updated?.type === 'updated');
    assert.equal(updated.from, added.to);
    assert.deepEqual(added.to, before);
    assert.equal(updated.to.ports[0]?.port, 2);
    model.deleteService('default/s');
    assert.deepEqual(model.take().services, [{ type: 'removed', from: updated.to }]);
  });

  test('MODEL-9 fields that a proxy does not use cause no change', () => {
    const { model } = create();
    model.setService(service('s'));
    model.take();
    model.setService(service('s', { labels: { a: 'b' }, healthCheckNodePort: 7 }));
    assert.deepEqual(changedKeys(model), []);
  });

  test('MODEL-9 deleting an unknown object is no change', () => {
    const { model } = create();
    model.deleteService('default/none');
    model.deleteEndpointSlice('default/none-1');
    assert.deepEqual(changedKeys(model), []);
  });
});

describe('endpoints of one slice', () => {
  test('MODEL-10 each port has a list of endpoints; those with the node name are local', () => {
    const { model } = create();
    const ports = [tcp(80, 'http'), tcp(443, 'https')];
    model.setEndpointSlice(
      slice(
        's-1',
        [
          { ip: '10.0.1.1', nodeName: NODE },
          { ip: '10.0.1.2', nodeName: 'node-b' },
        ],
        { ports },
      ),
    );
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s'), {
      'http/TCP': ['10.0.1.1:80 LRS', '10.0.1.2:80 RS'],
      'https/TCP': ['10.0.1.1:443 LRS', '10.0.1.2:443 RS'],
    });
  });

  test('MODEL-10 a node without a name has no local endpoints', () => {
    const model = new Model({
      family: 'IPv4',
      nodeName: '',
      startedAt: 0,
      report: problem => assert.fail(problem.message),
    });
    model.setEndpointSlice(slice('s-1', [{ ip: '10.0.0.1', nodeName: '' }]));
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s'), { '/TCP': ['10.0.0.1:8080 RS'] });
  });

  test('MODEL-10 missing conditions mean ready, serving and not terminating; serving does not follow ready', () => {
    const { model } = create();
    model.setEndpointSlice(
      slice('s-1', [
        { ip: '10.0.0.1' },
        { ip: '10.0.0.2', ready: false },
        { ip: '10.0.0.3', ready: false, serving: false },
        { ip: '10.0.0.4', ready: false, serving: true, terminating: true },
      ]),
    );
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], [
      '10.0.0.1:8080 RS',
      '10.0.0.2:8080 S',
      '10.0.0.3:8080 ',
      '10.0.0.4:8080 ST',
    ]);
  });

  test('MODEL-10 ports without a name or number and endpoints without an address are reported and ignored', () => {
    const { model, problems } = create();
    const ports: EndpointPort[] = [
      { protocol: 'TCP', port: 1 },
      { name: 'a', protocol: 'TCP' },
      tcp(0, 'b'),
      tcp(80, 'c'),
    ];
    const empty = { ...slice('s-1', ['10.0.0.1', '10.0.0.2', 'ten'], { ports }) };
    model.setEndpointSlice({
      ...empty,
      endpoints: empty.endpoints.map((endpoint, i) => (i === 1 ? { ...endpoint, addresses: [] } : endpoint)),
    });
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s'), { 'c/TCP': ['10.0.0.1:80 RS'] });
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['endpoints[1].addresses', 'endpoints[2].addresses[0]', 'ports[0].name', 'ports[1].port', 'ports[2].port'],
    );
  });

  test('MODEL-22 an endpoint of another family than addressType says is reported and left out', () => {
    const { model, problems } = create();
    model.setEndpointSlice(slice('s-1', ['10.0.0.1', 'fd00::5'], { addressType: 'IPv4' }));
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], ['10.0.0.1:8080 RS']);
    assert.deepEqual(problems, [
      {
        kind: 'EndpointSlice',
        object: 'EndpointSlice default/s-1',
        field: 'endpoints[1].addresses[0]',
        message: '"fd00::5" is not an IPv4 address, as addressType says; the endpoint is left out',
      },
    ]);
  });

  test('MODEL-10 only the first address counts, in canonical form', () => {
    const { model } = create();
    const two = slice('s-1', ['010.0.0.1']);
    model.setEndpointSlice({
      ...two,
      endpoints: [{ addresses: ['010.0.0.1', '10.0.0.2'], zoneHints: [], nodeHints: [] }],
    });
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], ['10.0.0.1:8080 RS']);
  });

  test('MODEL-10 slices of another address type are ignored', () => {
    const { model, problems } = create();
    model.setEndpointSlice(slice('s-1', ['fd00::1']));
    model.setEndpointSlice(slice('s-2', ['example.org'], { addressType: 'FQDN' }));
    assert.deepEqual([changedKeys(model), problems], [[], []]);
    const v6 = create('IPv6').model;
    v6.setEndpointSlice(slice('s-1', ['fd00::1']));
    v6.take();
    assert.deepEqual(endpointTexts(v6, 'default/s'), { '/TCP': ['[fd00::1]:8080 RS'] });
  });

  test('MODEL-10 a slice that names no Service is reported and ignored', () => {
    const { model, problems } = create();
    model.setEndpointSlice(slice('s-1', ['10.0.0.1'], { service: '' }));
    assert.deepEqual(changedKeys(model), []);
    assert.deepEqual(
      problems.map(({ object }) => object),
      ['EndpointSlice default/s-1'],
    );
  });
});

describe('several slices of a Service', () => {
  const at = (...numbers: number[]) => numbers.map(n => `10.0.1.${n}`);

  test('MODEL-11 endpoints of two slices with the same port are merged, other Services are separate', () => {
    const { model } = create();
    model.setEndpointSlice(slice('ns1/s-1', at(1, 2)));
    model.setEndpointSlice(slice('ns1/s-2', at(3)));
    model.setEndpointSlice(slice('ns1/t-1', at(4)));
    model.setEndpointSlice(slice('ns2/s-1', at(5)));
    model.take();
    const list = (key: string) => endpointTexts(model, key)['/TCP'];
    assert.deepEqual(list('ns1/s'), ['10.0.1.1:8080 RS', '10.0.1.2:8080 RS', '10.0.1.3:8080 RS']);
    assert.deepEqual(list('ns1/t'), ['10.0.1.4:8080 RS']);
    assert.deepEqual(list('ns2/s'), ['10.0.1.5:8080 RS']);
  });

  test('MODEL-11 a slice of the same name replaces the earlier one', () => {
    const { model } = create();
    model.setEndpointSlice(slice('s-1', at(1, 2)));
    model.setEndpointSlice(slice('s-1', at(2, 3)));
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], ['10.0.1.2:8080 RS', '10.0.1.3:8080 RS']);
  });

  test('MODEL-11 endpoints are sorted by their texts, byte by byte', () => {
    const { model } = create();
    model.setEndpointSlice(slice('s-1', at(2, 1, 10)));
    model.take();
    const order = (model.service('default/s')?.endpoints[0]?.endpoints ?? []).map(({ text }) => text);
    assert.deepEqual(order, ['10.0.1.10:8080', '10.0.1.1:8080', '10.0.1.2:8080']);
    const v6 = create('IPv6').model;
    v6.setEndpointSlice(slice('s-1', ['fd00::1a', 'fd00::1', 'fd00::10']));
    v6.take();
    const order6 = (v6.service('default/s')?.endpoints[0]?.endpoints ?? []).map(({ ip }) => ip);
    assert.deepEqual(order6, ['fd00::10', 'fd00::1', 'fd00::1a']);
  });

  test('MODEL-11 of duplicates the one that is not terminating counts, in any order', () => {
    const live = { ip: '10.0.0.1' };
    const going = { ip: '10.0.0.1', ready: false, terminating: true };
    for (const order of [
      [going, live, going],
      [live, going],
      [going, live],
    ]) {
      const { model } = create();
      model.setEndpointSlice(slice('s-1', order));
      model.take();
      assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], ['10.0.0.1:8080 RS']);
    }
  });

  test('MODEL-11 of duplicates in two slices the last slice by name counts, in any order of arrival', () => {
    const first = slice('s-1', [{ ip: '10.0.0.1', ready: true }]);
    const second = slice('s-2', [{ ip: '10.0.0.1', ready: false, serving: false }]);
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      const { model } = create();
      for (const next of order) model.setEndpointSlice(next);
      model.take();
      assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], ['10.0.0.1:8080 ']);
    }
  });

  test('MODEL-11 endpoints that are not ready are kept', () => {
    const { model } = create();
    model.setEndpointSlice(slice('s-1', [{ ip: '10.0.0.1', ready: false }]));
    model.setEndpointSlice(slice('s-2', [{ ip: '10.0.0.2', ready: false, serving: false }]));
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], ['10.0.0.1:8080 S', '10.0.0.2:8080 ']);
  });

  test('MODEL-11 one address with two ports of the same name is two endpoints', () => {
    const { model } = create();
    model.setEndpointSlice(slice('s-1', ['10.0.0.1'], { ports: [tcp(80, 'http'), tcp(8080, 'http')] }));
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s'), { 'http/TCP': ['10.0.0.1:8080 RS', '10.0.0.1:80 RS'].sort() });
  });

  test('MODEL-11 a slice with some of the ports adds endpoints to those ports only', () => {
    const { model } = create();
    const ports = [tcp(80, 'a'), tcp(443, 'b')];
    model.setEndpointSlice(slice('s-1', at(1), { ports }));
    model.setEndpointSlice(slice('s-2', at(2), { ports: [tcp(80, 'a')] }));
    model.take();
    assert.deepEqual(endpointTexts(model, 'default/s'), {
      'a/TCP': ['10.0.1.1:80 RS', '10.0.1.2:80 RS'],
      'b/TCP': ['10.0.1.1:443 RS'],
    });
  });
});

describe('changes of slices', () => {
  const one = slice('s-1', ['10.0.0.1', '10.0.0.2'], { ports: [tcp(80, 'a'), tcp(81, 'b')] });
  const changes: [string, ReturnType<typeof slice>, boolean][] = [
    ['the same again', one, false],
    ['a port removed', { ...one, ports: one.ports.slice(1) }, true],
    ['a port added', { ...one, ports: [...one.ports, tcp(82, 'c')] }, true],
    ['ports in another order', { ...one, ports: [...one.ports].reverse() }, true],
    ['an endpoint added', slice('s-1', ['10.0.0.1', '10.0.0.2', '10.0.0.3'], { ports: one.ports }), true],
    ['endpoints in another order', { ...one, endpoints: [...one.endpoints].reverse() }, true],
    [
      'an endpoint made unready',
      slice('s-1', [{ ip: '10.0.0.1', ready: false }, '10.0.0.2'], { ports: one.ports }),
      true,
    ],
    [
      'another trigger time',
      slice('s-1', ['10.0.0.1', '10.0.0.2'], { ports: one.ports, triggerTime: '2026-02-01T00:00:00Z' }),
      true,
    ],
    ['other labels', { ...one, metadata: { ...one.metadata, labels: { ...one.metadata.labels, x: 'y' } } }, false],
  ];
  for (const [what, next, want] of changes) {
    test(`MODEL-12 ${what} is ${want ? 'a' : 'no'} change`, () => {
      const { model } = create();
      model.setEndpointSlice(one);
      model.take();
      model.setEndpointSlice(next);
      assert.equal(model.pendingEndpoints, want ? 1 : 0);
      assert.deepEqual(changedKeys(model), want ? ['default/s'] : []);
    });
  }

  test('MODEL-12 a slice is removed by its name; an unknown slice is no change', () => {
    const { model } = create();
    model.setEndpointSlice(slice('s-1', ['10.0.0.1']));
    model.setEndpointSlice(slice('s-2', ['10.0.0.2']));
    model.take();
    model.deleteEndpointSlice('default/s-9');
    assert.deepEqual(changedKeys(model), []);
    model.deleteEndpointSlice('default/s-1');
    assert.deepEqual(changedKeys(model), ['default/s']);
    assert.deepEqual(endpointTexts(model, 'default/s')['/TCP'], ['10.0.0.2:8080 RS']);
  });

  test('MODEL-12 ports may be renamed and renumbered, and endpoints may go and come back', () => {
    const { model } = create();
    const texts = (next: ReturnType<typeof slice>) => {
      model.setEndpointSlice(next);
      model.take();
      return endpointTexts(model, 'default/s');
    };
    assert.deepEqual(texts(slice('s-1', ['10.0.0.1'], { ports: [udp(53, 'a')] })), { 'a/UDP': ['10.0.0.1:53 RS'] });
    assert.deepEqual(texts(slice('s-1', ['10.0.0.1'], { ports: [udp(53, 'b')] })), { 'b/UDP': ['10.0.0.1:53 RS'] });
    assert.deepEqual(texts(slice('s-1', ['10.0.0.1'], { ports: [udp(54, 'b')] })), { 'b/UDP': ['10.0.0.1:54 RS'] });
    assert.deepEqual(texts(slice('s-1', [], { ports: [udp(54, 'b')] })), {});
    assert.deepEqual(texts(slice('s-1', ['10.0.0.1'], { ports: [udp(53)] })), { '/UDP': ['10.0.0.1:53 RS'] });
  });

  test('MODEL-12 a Service without ports and slices is gone', () => {
    const { model } = create();
    for (const name of ['ns1/s-1', 'ns1/s-2', 'ns1/t-1', 'ns2/s-1']) model.setEndpointSlice(slice(name, ['10.0.0.1']));
    model.take();
    model.deleteEndpointSlice('ns1/s-1');
    model.take();
    assert.ok(model.service('ns1/s'), 'one slice is left');
    for (const name of ['ns1/s-2', 'ns1/t-1', 'ns2/s-1']) model.deleteEndpointSlice(name);
    model.take();
    assert.deepEqual([...model.services()], []);
  });

  test('MODEL-13 a slice that moves to another Service leaves the earlier Service', () => {
    const { model } = create();
    model.setEndpointSlice(slice('s-1', ['10.0.0.1']));
    model.take();
    model.setEndpointSlice(slice('s-1', ['10.0.0.1'], { service: 'other' }));
    assert.deepEqual(changedKeys(model), ['default/other', 'default/s']);
    assert.deepEqual(endpointTexts(model, 'default/s'), {});
    assert.deepEqual(endpointTexts(model, 'default/other')['/TCP'], ['10.0.0.1:8080 RS']);
  });
});

describe('flows that may be stale', () => {
  const cases: [string, (model: Model) => void, boolean][] = [
    ['a UDP slice is added', model => model.setEndpointSlice(slice('u-1', ['10.0.0.1'], { ports: [udp(53)] })), true],
    ['a TCP slice is added', model => model.setEndpointSlice(slice('t-2', ['10.0.0.1'])), false],
    [
      'an SCTP slice is added',
      model => model.setEndpointSlice(slice('c-1', ['10.0.0.1'], { ports: [{ name: '', protocol: 'SCTP', port: 1 }] })),
      true,
    ],
    ['a UDP slice is removed', model => model.deleteEndpointSlice('default/s-1'), true],
    [
      'a pod begins to terminate',
      model =>
        model.setEndpointSlice(
          slice('s-1', [{ ip: '10.0.0.1', ready: false, terminating: true }], { ports: [udp(53)] }),
        ),
      true,
    ],
    ['a UDP slice becomes empty', model => model.setEndpointSlice(slice('s-1', [], { ports: [udp(53)] })), true],
    [
      'a TCP port is added to a Service with UDP',
      model => model.setEndpointSlice(slice('s-2', ['10.0.0.9'], { ports: [tcp(80, 'x')] })),
      true,
    ],
    ['only a Service changes', model => model.setService(service('s', { ports: [{ protocol: 'UDP' }] })), false],
  ];
  for (const [what, act, want] of cases) {
    test(`MODEL-16 if ${what}, stale flows are ${want ? 'possible' : 'not possible'}`, () => {
      const { model } = create();
      model.setEndpointSlice(slice('s-1', ['10.0.0.1'], { ports: [udp(53)] }));
      model.setEndpointSlice(slice('t-1', ['10.0.0.1']));
      model.take();
      act(model);
      assert.equal(model.take().staleFlowsPossible, want);
      assert.equal(model.take().staleFlowsPossible, false, 'take returns it once');
    });
  }
});

describe('local endpoints that are ready', () => {
  test('MODEL-15 distinct local addresses that are ready count, over all ports; terminating ones never count', () => {
    const { model } = create();
    const local = { nodeName: NODE };
    model.setEndpointSlice(slice('a-1', [{ ip: '10.0.0.1', nodeName: 'node-b' }]));
    model.setEndpointSlice(slice('b-1', [{ ip: '10.0.0.1', ...local }], { ports: [tcp(1, 'p'), tcp(2, 'q')] }));
    model.setEndpointSlice(
      slice('c-1', [
        { ip: '10.0.0.2', ...local },
        { ip: '10.0.0.3', ...local },
        { ip: '10.0.0.4', ...local, ready: false, terminating: true },
      ]),
    );
    model.setEndpointSlice(slice('d-1', [{ ip: '10.0.0.5', ...local, ready: false, terminating: true }]));
    model.take();
    const counts = ['a', 'b', 'c', 'd', 'none'].map(name => model.localReadyEndpoints(`default/${name}`));
    assert.deepEqual(counts, [0, 1, 2, 0, 0]);
  });
});

describe('trigger times', () => {
  const time = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
  const at = (minute: number) => START + minute * 60_000;
  let next = 0;
  const set = (model: Model, name: string, triggerTime?: string) =>
    model.setEndpointSlice(slice(name, [`10.0.0.${++next % 250}`], triggerTime ? { triggerTime } : {}));
  const times = (model: Model) => Object.fromEntries(model.take().triggerTimes);

  test('MODEL-14 trigger times are collected by Service, in order', () => {
    const { model } = create();
    set(model, 's-1', time(1));
    set(model, 't-1', time(2));
    set(model, 's-1', time(3));
    assert.deepEqual(times(model), { 'default/s': [at(1), at(3)], 'default/t': [at(2)] });
    assert.deepEqual(times(model), {}, 'take returns them once');
  });

  test('MODEL-14 a slice without the annotation, or with a time before the start, has no trigger time', () => {
    const { model } = create();
    set(model, 's-1');
    set(model, 't-1', '2025-12-31T23:59:59Z');
    set(model, 'u-1', '2026-01-01T00:00:00Z');
    assert.deepEqual(times(model), {});
  });

  test('MODEL-14 a time less than a millisecond after the start counts', () => {
    const { model } = create();
    set(model, 's-1', '2026-01-01T00:00:00.000000900Z');
    assert.equal(Object.keys(times(model)).length, 1);
  });

  test("MODEL-14 deleting a slice of a Service forgets the Service's trigger times", () => {
    const { model } = create();
    set(model, 's-1', time(1));
    set(model, 's-2', time(2));
    model.deleteEndpointSlice('default/s-2');
    assert.deepEqual(times(model), {});
    set(model, 's-1', time(3));
    model.deleteEndpointSlice('default/s-1');
    set(model, 's-1', time(4));
    assert.deepEqual(times(model), { 'default/s': [at(4)] });
    model.deleteEndpointSlice('default/unknown');
    assert.deepEqual(times(model), {});
  });

  test('MODEL-14 a time that does not parse is reported and ignored', () => {
    const { model, problems } = create();
    set(model, 's-1', 'yesterday');
    assert.deepEqual(times(model), {});
    assert.equal(problems.length, 1);
  });
});
