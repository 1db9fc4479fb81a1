import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { balancer, httpSlice, testTexts, web, webSlice } from '../../../test/support/explain-cases.ts';
import { ask, factsOf, stepText } from '../../../test/support/explain-facts.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { caseSettings } from '../../../test/traffic/settings.ts';
import { caseMode } from '../../../test/traffic/start-proxy.ts';
import type { PacketPath } from '../../machine/index.ts';
import type { KernelFacts } from '../facts.ts';

const mode = caseMode(caseSettings({}, 'ebpf'));
const ANSWERED =
  'By the plan, a connection from any pod to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.';
const ASK_NODE = 'next: if it still fails, ask the proxy of the node, which also reads the kernel';
const CONDITION = { name: 'sockets', isServing: false, note: 'nothing is mounted at /sys/fs/bpf' } as const;

describe('sockets', () => {
  testTexts([
    {
      what: 'EXPLAIN-23 the socket replaces the address before any packet',
      question: 'web',
      facts: [[web, webSlice], { mode }],
      topic: 'sockets',
      step: ['good: The kernel replaces 10.96.0.10:80 with an endpoint inside connect(), before any packet.'],
      verdict: [`works: ${ANSWERED}`, ASK_NODE],
    },
    {
      what: 'EXPLAIN-23 the path says whom endpoints see behind a node port',
      question: '192.168.0.2:30080 from 10.244.1.7',
      facts: [[service('web', { ...nodePortSpec() }), webSlice], { mode }],
      topic: 'path',
      step: [
        'good: A new connection goes to 10.244.1.2:8080.',
        '10.244.1.2:8080  100 %  sees 10.244.1.7, the caller',
        'The pod itself connects to the endpoint, and nothing replaces its source: endpoints see 10.244.1.7.',
      ],
      verdict: [
        'works: By the plan, a connection from a pod at 10.244.1.7 to 192.168.0.2:30080/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        ASK_NODE,
      ],
    },
    {
      what: 'EXPLAIN-23 a Service without endpoints is refused inside connect()',
      question: 'web',
      facts: [[web, slice('web-1', [], httpSlice)], { mode }],
      topic: 'sockets',
      step: ['good: The kernel refuses 10.96.0.10:80 inside connect(), before any packet.'],
      verdict: [
        'broken: The EndpointSlice of default/web is empty: no pod matches its selector.',
        'next: compare the selector with the labels of the pods',
        '$ kubectl -n default describe service web',
      ],
    },
    {
      what: 'EXPLAIN-23 what the socket leaves to the rules has a reason',
      question: '203.0.113.1:80 from 198.51.100.7',
      facts: [[balancer, webSlice], { mode }],
      topic: 'sockets',
      step: [
        'good: The socket leaves the connection to the rules: the caller is not on this node, so its socket is not either.',
      ],
      verdict: [
        'works: By the plan, a connection from 198.51.100.7 outside of the cluster to 203.0.113.1:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        ASK_NODE,
      ],
    },
    {
      what: 'EXPLAIN-24 while sockets do not serve, rules do, and the step says why',
      question: 'web',
      facts: [[web, webSlice], { mode, condition: CONDITION }],
      topic: 'sockets',
      step: [
        'note: The mode does not serve sockets now: nothing is mounted at /sys/fs/bpf.',
        'Otherwise the kernel would replace 10.96.0.10:80 inside connect(), and a pod would keep its source address.',
      ],
      verdict: [
        `works: ${ANSWERED}`,
        'next: remove the cause; the proxy then tries again by itself, every sync period',
        '$ kube-proxy status',
      ],
    },
  ]);

  test('EXPLAIN-24 the path is then that of the rules', async () => {
    const facts = [[service('web', { ...nodePortSpec() }), webSlice], { mode, condition: CONDITION }] as const;
    const answer = await ask('192.168.0.2:30080 from 10.244.1.7', factsOf(...facts));
    assert.match(stepText(answer, 'path'), /sees an address of the node/);
    assert.ok(answer.outcome?.kind === 'answered' && !('at' in answer.outcome));
  });

  test('EXPLAIN-23 other rules see the packet to the endpoint, and a trace follows that one', async () => {
    const asked: PacketPath[] = [];
    const kernel: KernelFacts = {
      readBack: async () => ({ entries: [{ kind: 'element', place: 'map', wanted: 'a', found: 'a' }], affinity: [] }),
      otherRules: async paths => {
        asked.push(...paths);
        return paths.map(() => ({ findings: [], unread: [], incomplete: undefined }));
      },
      probe: async () => [],
    };
    const facts = factsOf([web, slice('web-1', ['10.244.1.2', '10.244.2.3'], httpSlice)], { mode, kernel });
    const { next } = await ask('web from 10.244.1.7', facts, true);
    assert.equal(next?.command, 'kube-proxy trace --from 10.244.1.7 --to 10.244.1.2:8080');
    assert.deepEqual(
      asked.map(({ packet, endpoint }) => [packet.source, packet.destination, packet.port, endpoint]),
      [['10.244.1.7', '10.244.1.2', 8080, undefined]],
    );
    asked.length = 0;
    await ask('web from 10.244.1.2', facts);
    assert.deepEqual(asked, [], 'a pod that reaches itself sends no packet through the node');
  });

  test('EXPLAIN-23 a client of sockets is its network namespace', async () => {
    const affinity = [
      { client: 'node', endpoint: '10.244.1.2:8080', secondsLeft: 90 },
      { client: '10.244.1.7', endpoint: '10.244.2.3:8080', secondsLeft: 80 },
    ];
    const kernel: KernelFacts = {
      readBack: async () => ({ entries: [], affinity }),
      flows: async () => ({ flows: [], incomplete: undefined }),
    };
    const facts = factsOf([web, webSlice], { mode, kernel });
    const asked = async (from: string) => stepText(await ask(`web from ${from}`, facts), 'connections');
    assert.equal(await asked('node'), 'good: Session affinity leads the caller to 10.244.1.2:8080 for 90 s more.');
    assert.equal(await asked('10.244.1.7'), '', 'the namespace of a pod is not known');
  });
});

function nodePortSpec() {
  return { type: 'NodePort', clusterIP: '10.96.0.10', ports: [{ name: 'http', port: 80, nodePort: 30080 }] } as const;
}
