import { describe } from 'node:test';
import { http, httpSlice, pod, serviceCidr, testTexts, web, webSlice } from '../../../test/support/explain-cases.ts';
import { service, slice } from '../../../test/support/objects.ts';

describe('addresses without a frontend', () => {
  testTexts([
    {
      what: 'EXPLAIN-8 the address of an endpoint',
      question: '10.244.1.2:8080',
      facts: [[web, slice('web-1', [{ ip: '10.244.1.2', targetRef: pod('web-0') }], httpSlice)]],
      topic: 'service',
      step: [
        'unknown: 10.244.1.2 is the address of an endpoint of Service default/web (default/web-0), and not of a Service.',
        'Connections to it go straight there. The proxy has no part in them.',
      ],
      verdict: [
        'unknown: 10.244.1.2 is the address of an endpoint of Service default/web (default/web-0), and not of a Service.',
        'next: ask for the Service instead',
        '$ kube-proxy explain default/web',
      ],
    },
    {
      what: 'EXPLAIN-8 an address of the node, and no node port',
      question: '192.168.0.2:22',
      facts: [[web]],
      topic: 'service',
      step: [
        'unknown: 192.168.0.2 is an address of node node-a, and no Service has the node port 22/TCP.',
        'A program that listens at this port gets the connection. The proxy has no part in it.',
      ],
      verdict: [
        'unknown: 192.168.0.2 is an address of node node-a, and no Service has the node port 22/TCP.',
        'next: see what listens there, on the node',
        "$ ss -lntp 'sport = :22'",
      ],
    },
    {
      what: 'EXPLAIN-8 an address of the service CIDR that no Service has',
      question: '10.96.7.7:80',
      facts: [[web, serviceCidr]],
      topic: 'service',
      step: [
        'bad: 10.96.7.7 is in the service CIDR 10.96.0.0/16, and no Service has it.',
        'The Service was probably deleted, or made again with another address.',
      ],
      verdict: [
        'broken: 10.96.7.7 is in the service CIDR 10.96.0.0/16, and no Service has it.',
        'next: look for the address among all Services',
        '$ kubectl get services -A | grep -F 10.96.7.7',
      ],
    },
    {
      what: 'EXPLAIN-8 an address that nothing has',
      question: '198.51.100.1:80',
      facts: [[web]],
      topic: 'service',
      step: ['unknown: 198.51.100.1 is no address of a Service, of an endpoint or of node node-a.'],
      verdict: [
        'unknown: 198.51.100.1 is no address of a Service, of an endpoint or of node node-a.',
        'next: look for the address among all Services',
        '$ kubectl get services -A | grep -F 198.51.100.1',
      ],
    },
    {
      what: 'EXPLAIN-8 the address of a Service with another port',
      question: '10.96.0.10:81',
      facts: [[web]],
      topic: 'service',
      step: [
        'bad: No Service has 10.96.0.10:81/TCP, but one has this address.',
        'At 10.96.0.10: default/web:http 80/TCP.',
      ],
      verdict: [
        'broken: No Service has 10.96.0.10:81/TCP, but one has this address.',
        'next: use a port that the Service has',
        '$ kube-proxy explain 10.96.0.10:80',
      ],
    },
    {
      what: 'EXPLAIN-8 an address of a family that the node does not serve',
      question: '[fd00::10]:80',
      facts: [[web], { families: ['IPv4'] }],
      topic: 'service',
      step: ['bad: fd00::10 is IPv6, and the proxy of node node-a serves only IPv4.'],
      verdict: [
        'broken: fd00::10 is IPv6, and the proxy of node node-a serves only IPv4.',
        'next: check which families the node has',
        "$ kubectl get node node-a -o jsonpath='{.status.addresses}'",
      ],
    },
    {
      what: 'EXPLAIN-8 an external IP while external IPs are not allowed',
      question: '198.51.100.7:80',
      facts: [[service('web', { externalIPs: ['198.51.100.7'], ports: http }), webSlice], { allowExternalIPs: false }],
      topic: 'service',
      step: [
        "bad: 198.51.100.7:80: an external IP of Service default/web, which this proxy does not serve. The packet follows the node's routes to 198.51.100.7.",
      ],
      verdict: [
        "broken: 198.51.100.7:80: an external IP of Service default/web, which this proxy does not serve. The packet follows the node's routes to 198.51.100.7.",
        'next: allow external IPs with the feature gate AllowServiceExternalIPs',
        '$ kube-proxy help feature-gates',
      ],
    },
  ]);
});
