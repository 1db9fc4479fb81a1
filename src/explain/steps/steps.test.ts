import { describe } from 'node:test';
import { httpSlice, local, pod, refusal, testTexts, web, webSlice } from '../../../test/support/explain-cases.ts';
import { node, slice } from '../../../test/support/objects.ts';

describe('steps', () => {
  testTexts([
    {
      what: 'EXPLAIN-4 a silent watch makes the answer uncertain',
      question: 'web',
      facts: [
        [web, webSlice],
        {
          watches: [
            {
              path: '/api/v1/services',
              hasSynced: true,
              silentMs: 400_000,
              problem: { message: 'connection refused' },
            },
          ],
        },
      ],
      topic: 'knowledge',
      step: [
        'unknown: The proxy may not know the newest changes: the watch of services has been silent for 400 s.',
        'services: connection refused',
      ],
      verdict: [
        'unknown: By the plan it works, but this is not certain. The proxy may not know the newest changes: the watch of services has been silent for 400 s.',
        'next: look at the watches of the proxy',
        '$ kube-proxy status',
      ],
    },
    {
      what: 'EXPLAIN-4 before the API server has sent all objects, nothing is called broken',
      question: 'web',
      facts: [
        [web],
        {
          watches: [
            {
              path: '/apis/discovery.k8s.io/v1/endpointslices',
              hasSynced: false,
              silentMs: undefined,
              problem: undefined,
            },
          ],
        },
      ],
      topic: 'knowledge',
      step: ['unknown: The API server has not sent all endpointslices yet.'],
      verdict: [
        'unknown: The API server has not sent all endpointslices yet.',
        'next: look at the watches of the proxy',
        '$ kube-proxy status',
      ],
    },
    {
      what: 'EXPLAIN-4 without its Node the proxy does not know its own addresses',
      question: 'web',
      facts: [[web, webSlice, node('node-b')]],
      topic: 'knowledge',
      step: ['unknown: The Node node-a was not found, so its addresses, zone and pod ranges are not known.'],
      verdict: [
        'unknown: By the plan it works, but this is not certain. The Node node-a was not found, so its addresses, zone and pod ranges are not known.',
        'next: check the name of the node, which --hostname-override sets',
        '$ kubectl get nodes',
      ],
    },
    {
      what: 'EXPLAIN-4 changes that wait for a sync are noted',
      question: 'web',
      facts: [[web, webSlice], { isPending: true }],
      topic: 'knowledge',
      step: ['note: Some changes are not written yet; the next sync writes them.'],
      verdict: [
        'works: By the plan, a connection from any pod to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        'next: if it still fails, ask the proxy of the node, which also reads the kernel',
      ],
    },
    {
      what: 'EXPLAIN-11 some endpoints are hinted for another zone',
      question: 'web',
      facts: [
        [
          web,
          slice(
            'web-1',
            [
              { ip: '10.244.1.2', zoneHints: ['zone-a'] },
              { ip: '10.244.2.2', zoneHints: ['zone-b'] },
            ],
            httpSlice,
          ),
        ],
      ],
      topic: 'endpoints',
      step: [
        'good: This node uses 1 of the 2 endpoints of default/web:http.',
        '✓ 10.244.1.2:8080  ready',
        '· 10.244.2.2:8080  hinted for other zones',
        'Hints: endpoints for zone zone-a only.',
      ],
      verdict: [
        'works: By the plan, a connection from any pod to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        'next: if it still fails, ask the proxy of the node, which also reads the kernel',
      ],
    },
    {
      what: 'EXPLAIN-11 an endpoint that terminates is used, because none is ready',
      question: 'web',
      facts: [
        [
          web,
          slice(
            'web-1',
            [{ ip: '10.244.1.2', ready: false, serving: true, terminating: true, targetRef: pod('web-0') }],
            httpSlice,
          ),
        ],
      ],
      topic: 'endpoints',
      step: [
        'note: default/web:http has 1 endpoint, and this node uses it.',
        '✓ 10.244.1.2:8080  web-0  terminating, but none is ready',
      ],
      verdict: [
        'works: By the plan, a connection from any pod to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        'next: find out why no endpoint is ready',
        '$ kubectl -n default get endpointslices -l kubernetes.io/service-name=web',
      ],
    },
    {
      what: 'EXPLAIN-13 a pod that reaches itself',
      question: 'web from web-0',
      facts: [[web, slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a', targetRef: pod('web-0') }], httpSlice)]],
      topic: 'path',
      step: [
        'good: A new connection goes to 10.244.1.2:8080.',
        '10.244.1.2:8080  100 %  sees an address of the node',
        '10.244.1.2:8080 calls itself: it sees an address of the node, so that its answer comes back through the node.',
      ],
      verdict: [
        'works: By the plan, a connection from pod default/web-0 at 10.244.1.2 to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        'next: if it still fails, ask the proxy of the node, which also reads the kernel',
      ],
    },
    {
      what: 'EXPLAIN-13 a node port at an address that does not accept node ports',
      question: '172.17.0.1:30080',
      facts: [
        [local, slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }], httpSlice)],
        { nodePortAddresses: ['192.168.0.0/16'] },
      ],
      topic: 'path',
      step: [
        'bad: Node port 30080 of default/web:http does not accept connections at 172.17.0.1: nodePortAddresses is 192.168.0.0/16. A program of the node answers if it listens at 172.17.0.1:30080. Otherwise the kernel refuses.',
        'Node ports are accepted at 192.168.0.2.',
      ],
      verdict: [
        'broken: Node ports are not accepted at 172.17.0.1.',
        'next: call another address of the node, or add the range of this address to nodePortAddresses',
        '$ kube-proxy explain 192.168.0.2:30080',
      ],
    },
    {
      what: 'EXPLAIN-9 EXPLAIN-13 a node port at a loopback address, which only the node itself can call',
      question: '127.0.0.1:30080',
      facts: [[local, slice('web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }], httpSlice)]],
      topic: 'caller',
      step: [
        'good: The caller is assumed to be the node itself, because only it reaches its loopback addresses.',
        'externalTrafficPolicy is Local, but pods and the node itself reach all endpoints.',
      ],
      verdict: [
        'broken: Node ports are not accepted at 127.0.0.1.',
        'next: call another address of the node, or turn on the feature gate KubeProxyNFTablesLocalhostNodePorts and add localhost to nodePortAddresses',
        '$ kube-proxy explain 192.168.0.2:30080',
      ],
    },
    {
      what: 'EXPLAIN-14 the kernel refused the service port',
      question: 'web',
      facts: [
        [web, webSlice],
        {
          setAside: [
            { family: 'IPv4', namespace: 'default', name: 'web', port: 'http', protocol: 'TCP', cause: refusal },
          ],
        },
      ],
      topic: 'kernel',
      step: [
        'bad: default/web:http is set aside: the kernel refused it, so it is not programmed.',
        'File exists',
        'Refused: element { 10.96.0.10 . tcp . 80 }',
        'note: The nftables mode cannot read the kernel back.',
      ],
      verdict: [
        'broken: default/web:http is set aside: the kernel refused it, so it is not programmed.',
        'next: remove the cause; the proxy retries when the Service changes',
        '$ kubectl -n default annotate service web retried-at="$(date)" --overwrite',
      ],
    },
    {
      what: 'EXPLAIN-14 without a running proxy no kernel is read, and the answer says so',
      question: 'web',
      facts: [[web, webSlice], { origin: 'manifests' }],
      topic: 'kernel',
      step: ['note: The command read no kernel, because it asked no running proxy.'],
      verdict: [
        'works: By the plan, a connection from any pod to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        'next: if it still fails, ask the proxy of the node, which also reads the kernel',
      ],
    },
  ]);
});
