import { describe } from 'node:test';
import { balancer, httpSlice, pod, testTexts, web, webSlice } from '../../../test/support/explain-cases.ts';
import { slice } from '../../../test/support/objects.ts';

describe('callers', () => {
  testTexts([
    {
      what: 'EXPLAIN-9 a pod that no EndpointSlice names',
      question: 'web from client',
      facts: [[web, webSlice]],
      topic: 'caller',
      step: [
        "unknown: No EndpointSlice names pod default/client, and a proxy does not watch pods: give the pod's address instead.",
      ],
      verdict: [
        "unknown: No EndpointSlice names pod default/client, and a proxy does not watch pods: give the pod's address instead.",
        'next: look up the address of the pod, and give it as --from IP',
        "$ kubectl -n default get pod client -o jsonpath='{.status.podIPs}'",
      ],
    },
    {
      what: 'EXPLAIN-9 a pod of another node',
      question: 'web from web-0',
      facts: [[web, slice('web-1', [{ ip: '10.244.2.2', nodeName: 'node-b', targetRef: pod('web-0') }], httpSlice)]],
      topic: 'caller',
      step: [
        'unknown: The caller 10.244.2.2 is pod default/web-0 in EndpointSlice default/web-1.',
        'The caller runs on node node-b, whose own proxy handles its connections, and not that of node-a.',
      ],
      verdict: [
        'unknown: The caller runs on node node-b, whose own proxy handles its connections, and not that of node-a.',
        'next: ask the proxy of node node-b, in its pod',
        '$ kubectl -n kube-system get pods -o wide --field-selector spec.nodeName=node-b',
      ],
    },
    {
      what: 'EXPLAIN-9 a caller of another family',
      question: 'web from fd00::1',
      facts: [[web, webSlice]],
      topic: 'caller',
      step: ['unknown: The caller fd00::1 is IPv6 and the destination is IPv4: no connection is possible.'],
      verdict: ['unknown: The caller fd00::1 is IPv6 and the destination is IPv4: no connection is possible.'],
    },
    {
      what: 'EXPLAIN-5 a caller outside uses the address of the load balancer, and not the cluster IP',
      question: 'web from outside',
      facts: [[balancer, webSlice]],
      topic: 'service',
      step: [
        'good: 203.0.113.1:80/TCP is the load-balancer IP of default/web:http.',
        'Other addresses: 10.96.0.10:80, NODE-IP:30080',
      ],
      verdict: [
        'unknown: By the plan it works, but this is not certain. Only callers in 198.51.100.0/24 may connect (loadBalancerSourceRanges). Give --from IP to check one.',
      ],
    },
    {
      what: 'EXPLAIN-10 source ranges without the caller',
      question: '203.0.113.1:80 from 192.0.2.1',
      facts: [[balancer, webSlice]],
      topic: 'caller',
      step: [
        'bad: The caller 192.0.2.1 is outside: neither an address of this node nor in the cluster CIDR 10.244.0.0/16.',
        'loadBalancerSourceRanges (198.51.100.0/24) does not contain 192.0.2.1, so its packets are dropped.',
      ],
      verdict: [
        'broken: loadBalancerSourceRanges (198.51.100.0/24) does not contain 192.0.2.1, so its packets are dropped.',
        'next: add the range of the caller to spec.loadBalancerSourceRanges',
        '$ kubectl -n default edit service web',
      ],
    },
    {
      what: 'EXPLAIN-10 source ranges with the caller',
      question: '203.0.113.1:80 from 198.51.100.9',
      facts: [[balancer, webSlice]],
      topic: 'caller',
      step: [
        'good: The caller 198.51.100.9 is outside: neither an address of this node nor in the cluster CIDR 10.244.0.0/16.',
        'loadBalancerSourceRanges (198.51.100.0/24) allows it.',
      ],
      verdict: [
        'works: By the plan, a connection from 198.51.100.9 outside of the cluster to 203.0.113.1:80/TCP is answered by endpoint 10.244.1.2:8080 of default/web.',
        'next: if it still fails, ask the proxy of the node, which also reads the kernel',
      ],
    },
    {
      what: 'EXPLAIN-10 source ranges, and no caller is named',
      question: '203.0.113.1:80',
      facts: [[balancer, webSlice]],
      topic: 'caller',
      step: [
        'unknown: The caller is assumed to be outside of the cluster; --from names another caller.',
        'Only callers in 198.51.100.0/24 may connect (loadBalancerSourceRanges). Give --from IP to check one.',
      ],
      verdict: [
        'unknown: By the plan it works, but this is not certain. Only callers in 198.51.100.0/24 may connect (loadBalancerSourceRanges). Give --from IP to check one.',
      ],
    },
  ]);
});
