import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { balancer, httpSlice, local, pod, web, webSlice } from '../../test/support/explain-cases.ts';
import { ask, factsOf, stepText, verdictText } from '../../test/support/explain-facts.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Facts } from './facts.ts';

const three = slice(
  'web-1',
  [
    { ip: '10.244.1.2', nodeName: 'node-a', zone: 'zone-a', targetRef: pod('web-0') },
    { ip: '10.244.2.2', nodeName: 'node-b', zone: 'zone-b', targetRef: pod('web-1') },
    { ip: '10.244.2.3', nodeName: 'node-b', zone: 'zone-b', targetRef: pod('web-2'), ready: false },
  ],
  httpSlice,
);

describe('the answer', () => {
  test('EXPLAIN-2 the answer has the question, the origin, the target, the caller and numbered steps', async () => {
    const { steps, outcome, ...rest } = await ask('web:http from 10.244.1.7', factsOf([web, three]));
    assert.deepEqual(rest, {
      schema: 'pointsman.explanation/v1',
      question: { to: 'default/web:http', from: '10.244.1.7', probe: false },
      origin: { kind: 'proxy', node: 'node-a', mode: 'nftables' },
      target: {
        service: 'default/web',
        port: 'http',
        protocol: 'TCP',
        family: 'IPv4',
        frontend: 'ClusterIP',
        address: '10.96.0.10:80',
      },
      caller: {
        place: 'pod',
        ip: '10.244.1.7',
        how: 'in the cluster CIDR 10.244.0.0/16, so it is a pod',
        isAssumed: false,
      },
      verdict: 'works',
      summary:
        'By the plan, a connection from a pod at 10.244.1.7 to 10.96.0.10:80/TCP is answered by one of 2 endpoints of default/web.',
      next: { text: 'if it still fails, ask the proxy of the node, which also reads the kernel' },
    });
    assert.equal(outcome?.kind, 'answered');
    assert.deepEqual(
      steps.map(({ number, topic, verdict }) => `${number} ${topic} ${verdict}`),
      ['1 knowledge good', '2 service good', '3 caller good', '4 endpoints good', '5 path good', '6 kernel note'],
    );
    assert.deepEqual(JSON.parse(JSON.stringify(steps)).length, 6);
  });

  test('EXPLAIN-3 the first bad step is the reason', async () => {
    const answer = await ask('web', factsOf([web]));
    assert.deepEqual(
      answer.steps.filter(({ verdict }) => verdict === 'bad').map(({ topic }) => topic),
      ['endpoints', 'path'],
    );
    assert.equal(answer.verdict, 'broken');
    assert.match(answer.summary, /^No EndpointSlice belongs to default\/web/);
  });

  test('EXPLAIN-3 an answer that is good says what to try if it still fails', async () => {
    const kernel = {
      readBack: async () => ({ entries: [{ kind: 'x', place: 'y', wanted: 'z', found: 'z' }], affinity: [] }),
      probe: async () => [],
    };
    const facts = factsOf([web, webSlice], { kernel });
    const command = async (question: string, probe: boolean) => (await ask(question, facts, probe)).next?.command;
    assert.equal(
      await command('web from 10.244.1.7', false),
      'kube-proxy explain --probe --from 10.244.1.7 default/web',
    );
    assert.equal(await command('web:80/tcp from node', true), 'kube-proxy trace --from node --to default/web:80');
    assert.equal(await command('10.96.0.10:80', true), 'kube-proxy trace --to 10.96.0.10:80');
  });

  test('EXPLAIN-3 EXPLAIN-4 doubts about what the proxy knows are part of a bad answer', async () => {
    const watches = [{ path: '/api/v1/services', hasSynced: true, silentMs: 100_000, problem: undefined }];
    const { verdict, summary } = await ask('web', factsOf([web], { watches }));
    assert.equal(verdict, 'broken');
    assert.match(summary, / But the knowledge of the proxy may be old or incomplete\.$/);
  });

  test('EXPLAIN-4 a problem of the Service or of its slices is noted, others are not', async () => {
    const problem = (object: string) => ({ object, field: 'spec.x', message: 'is odd' });
    const problems = [problem('Service default/web'), problem('EndpointSlice default/web-1'), problem('Service a/b')];
    assert.equal(
      stepText(await ask('web', factsOf([web, webSlice], { problems })), 'knowledge'),
      [
        'note: The proxy has read all manifests. There are problems:',
        'Service default/web: spec.x is odd',
        'EndpointSlice default/web-1: spec.x is odd',
      ].join('\n'),
    );
  });
});

describe('frontends', () => {
  const dual = service('web', {
    type: 'LoadBalancer',
    clusterIP: 'fd00::10',
    clusterIPs: ['fd00::10', '10.96.0.10'],
    ipFamilies: ['IPv6', 'IPv4'],
    externalIPs: ['198.51.100.7'],
    ports: [{ name: 'http', port: 80, nodePort: 30080 }],
  });

  test('EXPLAIN-5 a Service stands for the cluster IP of its primary family, and the others are listed', async () => {
    const answer = await ask('web', factsOf([dual, webSlice]));
    assert.equal(
      stepText(answer, 'service'),
      [
        'good: [fd00::10]:80/TCP is the cluster IP of default/web:http.',
        'Other addresses: 10.96.0.10:80, 198.51.100.7:80, NODE-IP:30080',
      ].join('\n'),
    );
  });

  test('EXPLAIN-5 on a node without the primary family it stands for the other cluster IP', async () => {
    const answer = await ask('web', factsOf([dual, webSlice], { families: ['IPv4'] }));
    assert.equal(answer.target?.address, '10.96.0.10:80');
    assert.equal(answer.verdict, 'works');
  });

  test("EXPLAIN-5 it stands for the cluster IP of the caller's family, if the operator gives the caller's address", async () => {
    const facts = factsOf([dual, webSlice]);
    assert.equal((await ask('web from 10.244.1.7', facts)).target?.address, '10.96.0.10:80');
    assert.equal((await ask('web from fd00:10:244:1::7', facts)).target?.address, '[fd00::10]:80');
  });

  test('EXPLAIN-5 an address stands for its frontend: external IP, load-balancer IP and node port', async () => {
    const facts = factsOf([
      balancer,
      webSlice,
      service('dns', { clusterIP: '10.96.0.53', ports: [{ port: 53, protocol: 'UDP' }] }),
    ]);
    const kind = async (question: string) => (await ask(question, facts)).target?.frontend;
    assert.equal(await kind('203.0.113.1:80'), 'LoadBalancerIP');
    assert.equal(await kind('192.168.0.2:30080'), 'NodePort');
    const dns = await ask('10.96.0.53:53', facts);
    assert.equal(dns.target?.protocol, 'UDP');
  });

  test('EXPLAIN-7 all ports of a Service that works', async () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ];
    const slicePorts = ports.map(({ name, port }) => ({ name, protocol: 'TCP' as const, port: port + 8000 }));
    const facts = factsOf([service('web', { ports }), slice('web-1', ['10.244.1.2'], { ports: slicePorts })]);
    const answer = await ask('web', facts);
    assert.equal(
      stepText(answer, 'port'),
      [
        'good: default/web:http at 10.96.0.1:80/TCP is answered by one endpoint.',
        'good: default/web:https at 10.96.0.1:443/TCP is answered by one endpoint.',
      ].join('\n'),
    );
    assert.equal(
      verdictText(answer),
      [
        'works: All 2 ports of default/web are answered.',
        'next: ask for one port to see every step',
        '$ kube-proxy explain default/web:http',
      ].join('\n'),
    );
    assert.equal((await ask('web:443', facts)).target?.port, 'https');
  });

  test('EXPLAIN-7 a port counts as broken or unknown for every reason that a question about it alone finds', async () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ];
    const slicePorts = ports.map(({ name, port }) => ({ name, protocol: 'TCP' as const, port: port + 8000 }));
    const given = [
      service('web', { ports }),
      slice('web-1', [{ ip: '10.244.2.2', nodeName: 'node-b', targetRef: pod('web-0') }], { ports: slicePorts }),
    ];
    const missing = { kind: 'element', place: 'map ip kube-proxy service-numbers', wanted: 'a', found: undefined };
    const kernel = (lost: string) => ({
      readBack: async (_family: unknown, { port }: { readonly port: { readonly name: string } }) => ({
        entries: [port.name === lost ? missing : { ...missing, found: 'a' }],
        affinity: [],
      }),
    });
    const broken = await ask('web', factsOf(given, { kernel: kernel('https') }));
    assert.equal(
      stepText(broken, 'port'),
      [
        'good: default/web:http at 10.96.0.1:80/TCP is answered by one endpoint.',
        'bad: default/web:https at 10.96.0.1:443/TCP does not work: The kernel differs from the plan: element missing in map ip kube-proxy service-numbers.',
      ].join('\n'),
    );
    assert.equal(broken.verdict, 'broken');
    const elsewhere = await ask('web from default/web-0', factsOf(given, { kernel: kernel('') }));
    assert.equal(elsewhere.verdict, 'unknown');
    assert.match(elsewhere.summary, /may not be answered: The caller runs on node node-b/);
  });

  test('EXPLAIN-8 a connection to an endpoint itself, and to a node address, is explained to its end', async () => {
    const facts = factsOf([web, webSlice]);
    assert.deepEqual(
      (await ask('10.244.1.2:8080', facts)).steps.map(({ topic }) => topic),
      ['knowledge', 'service', 'caller', 'path'],
    );
  });
});

describe('callers and endpoints', () => {
  test('EXPLAIN-9 the caller is detected, and the answer says how', async () => {
    const facts = factsOf([web, three]);
    const how = async (from: string) => stepText(await ask(`web from ${from}`, facts), 'caller');
    assert.equal(
      await how('10.244.1.7'),
      'good: The caller 10.244.1.7 is in the cluster CIDR 10.244.0.0/16, so it is a pod.',
    );
    assert.equal(
      await how('10.244.1.2'),
      'good: The caller 10.244.1.2 is pod default/web-0 in EndpointSlice default/web-1.',
    );
    assert.equal(
      await how('web-0'),
      'good: The caller 10.244.1.2 is pod default/web-0 in EndpointSlice default/web-1.',
    );
    assert.equal(await how('172.17.0.1'), 'good: The caller 172.17.0.1 is an address of this node.');
    assert.equal(await how('node'), 'good: The caller 192.168.0.2 is the address of node node-a.');
    assert.equal(await how('outside'), 'good: The caller is outside, as --from says.');
    assert.equal(
      await how('192.0.2.1'),
      'good: The caller 192.0.2.1 is outside: neither an address of this node nor in the cluster CIDR 10.244.0.0/16.',
    );
  });

  test('EXPLAIN-9 without --from a pod calls a cluster IP, and a caller outside calls other addresses', async () => {
    const facts = factsOf([balancer, webSlice]);
    const caller = async (question: string) => (await ask(question, facts)).caller;
    assert.deepEqual(await caller('web'), {
      place: 'pod',
      how: 'assumed to be a pod of this node; --from names another caller',
      isAssumed: true,
    });
    assert.equal((await caller('192.168.0.2:30080'))?.place, 'outside');
  });

  test('EXPLAIN-9 a pod of another node comes to a node port of this node', async () => {
    const { verdict, caller } = await ask('192.168.0.2:30080 from web-1', factsOf([local, three]));
    assert.equal(caller?.pod, 'default/web-1');
    assert.equal(verdict, 'works');
  });

  test('EXPLAIN-9 a reference without a namespace is in that of its slice, and a Node is no pod', async () => {
    const callers = slice('web-2', [
      { ip: '10.244.1.8', nodeName: 'node-a', targetRef: { kind: 'Pod', namespace: '', name: 'bare' } },
      { ip: '10.244.1.9', nodeName: 'node-a', targetRef: { kind: 'Node', namespace: '', name: 'node-x' } },
    ]);
    const facts = factsOf([web, webSlice, callers]);
    assert.equal((await ask('web from bare', facts)).caller?.pod, 'default/bare');
    assert.equal((await ask('web from 10.244.1.8', facts)).caller?.pod, 'default/bare');
    assert.deepEqual((await ask('web from 10.244.1.9', facts)).caller, {
      place: 'pod',
      ip: '10.244.1.9',
      how: 'an endpoint in EndpointSlice default/web-2',
      isAssumed: false,
    });
  });

  test('EXPLAIN-9 for a pod of another node nothing is called broken or working', async () => {
    const elsewhere = slice('web-2', [{ ip: '10.244.3.2', nodeName: 'node-c' }], { ...httpSlice, service: 'web' });
    const caller = slice('client-1', [{ ip: '10.244.2.9', nodeName: 'node-b', targetRef: pod('client') }]);
    const answer = await ask('web from client', factsOf([web, elsewhere, caller]));
    assert.equal(answer.verdict, 'unknown');
    assert.match(answer.summary, /^The caller runs on node node-b/);
    assert.match(stepText(answer, 'path'), /^good: /);
  });

  test('EXPLAIN-10 what policy Local means for the caller', async () => {
    const facts = factsOf([local, three]);
    const policy = async (from: string) =>
      stepText(await ask(`192.168.0.2:30080 from ${from}`, facts), 'caller').split('\n')[1];
    assert.equal(
      await policy('outside'),
      'externalTrafficPolicy is Local: only endpoints on this node serve this caller.',
    );
    assert.equal(
      await policy('web-0'),
      'externalTrafficPolicy is Local, but pods and the node itself reach all endpoints.',
    );
  });

  test('EXPLAIN-10 ranges that contain no pod turn every pod away, and others leave it open', async () => {
    const guarded = (range: string) =>
      service('lb', { type: 'LoadBalancer', ingress: [{ ip: '203.0.113.1' }], loadBalancerSourceRanges: [range] });
    const verdict = async (range: string, from: string) => {
      const facts = factsOf([guarded(range), slice('lb-1', ['10.244.1.2'])]);
      const answer = await ask(`203.0.113.1:80 from ${from}`, facts);
      return [answer.verdict, answer.outcome?.kind];
    };
    assert.deepEqual(await verdict('198.51.100.0/24', 'pod'), ['broken', 'silent']);
    assert.deepEqual(await verdict('10.244.1.0/24', 'pod'), ['unknown', 'answered']);
    assert.deepEqual(await verdict('198.51.100.0/24', 'outside'), ['unknown', 'answered']);
  });

  test('EXPLAIN-11 every endpoint is listed with its pod, node and zone, used or not', async () => {
    assert.equal(
      stepText(await ask('web', factsOf([web, three])), 'endpoints'),
      [
        'good: This node uses 2 of the 3 endpoints of default/web:http.',
        '✓ 10.244.1.2:8080  web-0  node-a (this node)  zone-a  ready',
        '✓ 10.244.2.2:8080  web-1  node-b              zone-b  ready',
        '· 10.244.2.3:8080  web-2  node-b              zone-b  not ready',
      ].join('\n'),
    );
  });

  test('EXPLAIN-11 the text shows 20 endpoints, and the data has all', async () => {
    const many = slice(
      'web-1',
      Array.from({ length: 30 }, (_, i) => `10.244.3.${i + 1}`),
      httpSlice,
    );
    const { steps } = await ask('web', factsOf([web, many]));
    const step = steps.find(({ topic }) => topic === 'endpoints');
    assert.equal(step?.details.length, 21);
    assert.equal(step?.details.at(-1), 'and 10 more (-o json has all)');
    assert.equal(JSON.stringify(step?.data).match(/"address"/g)?.length, 30);
  });

  test('EXPLAIN-13 where a new connection goes, with its odds and what the endpoint sees', async () => {
    assert.equal(
      stepText(await ask('web from 10.244.1.7', factsOf([web, three])), 'path'),
      [
        'good: A new connection goes to one of 2 endpoints of default/web:http, at random.',
        '10.244.1.2:8080  50 %  sees 10.244.1.7, the caller',
        '10.244.2.2:8080  50 %  sees 10.244.1.7, the caller',
        'The caller counts as a pod (by source range 10.244.0.0/16): endpoints see 10.244.1.7.',
      ].join('\n'),
    );
    const outside = stepText(await ask('192.168.0.2:30080 from outside', factsOf([local, three])), 'path');
    assert.match(outside, /^good: A new connection goes to 10\.244\.1\.2:8080\.\n.* sees the caller's own address\n/);
  });
});

describe('the cost of an answer', () => {
  /** Refuses to list all objects. */
  function withoutLists(facts: Facts): Facts {
    const refuse = (): never => assert.fail('all objects are looked at');
    return { ...facts, objects: { ...facts.objects, services: refuse, slices: refuse } };
  }

  test('EXPLAIN-21 an answer about a Service or an address does not look at all objects', async () => {
    const facts = withoutLists(factsOf([balancer, three]));
    for (const question of [
      'web',
      'web:http from node',
      '10.96.0.10:80',
      '203.0.113.1:80',
      '192.168.0.2:30080 from outside',
    ]) {
      assert.notEqual((await ask(question, facts)).verdict, 'broken');
    }
  });

  test('EXPLAIN-21 a search through all objects makes breaks', async () => {
    const services = Array.from({ length: 5000 }, (_, i) =>
      service(`svc-${i}`, { clusterIP: `10.97.${i >> 8}.${i & 255}` }),
    );
    const facts = factsOf(services);
    let breaks = 0;
    let isDone = false;
    const count = () => {
      breaks++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await ask('svc-99999', facts);
    isDone = true;
    assert.ok(breaks >= 2, `${breaks} breaks`);
  });
});
