import { describe } from 'node:test';
import { http, httpSlice, local, pod, testTexts, web } from '../../../test/support/explain-cases.ts';
import { service, slice } from '../../../test/support/objects.ts';

describe('frontends without an endpoint', () => {
  testTexts([
    {
      what: 'EXPLAIN-12 the slice has another port name than the Service',
      question: 'web',
      facts: [[web, slice('web-1', ['10.244.1.2'], { ports: [{ name: 'web', protocol: 'TCP', port: 8080 }] })]],
      topic: 'endpoints',
      step: [
        'bad: EndpointSlice default/web-1 has no port named http (TCP): its ports are web (TCP).',
        'The name of a port must be the same in the Service and in its EndpointSlices.',
      ],
      verdict: [
        'broken: EndpointSlice default/web-1 has no port named http (TCP): its ports are web (TCP).',
        'next: make the names equal',
        '$ kubectl -n default get endpointslices -l kubernetes.io/service-name=web -o yaml',
      ],
    },
    {
      what: 'EXPLAIN-12 the label of a slice is misspelt',
      question: 'web',
      facts: [[web, slice('web-1', ['10.244.1.2'], { service: 'wbe', ...httpSlice })]],
      topic: 'endpoints',
      step: [
        'bad: No EndpointSlice names Service default/web.',
        'EndpointSlice default/web-1 names Service default/wbe, which does not exist.',
      ],
      verdict: [
        'broken: EndpointSlice default/web-1 names Service wbe, which does not exist; web has no endpoints.',
        'next: correct the label kubernetes.io/service-name of the slice',
        '$ kubectl -n default label endpointslice web-1 kubernetes.io/service-name=web --overwrite',
      ],
    },
    {
      what: 'EXPLAIN-12 the proxy cannot use the slice',
      question: 'web',
      facts: [
        [web],
        {
          problems: [
            { object: 'EndpointSlice default/web-admin-1', message: 'is of another Service' },
            { object: 'EndpointSlice default/web-1', field: 'endpoints[0].nodeName', message: 'is no name' },
          ],
        },
      ],
      topic: 'endpoints',
      step: [
        'bad: The proxy uses no EndpointSlice of default/web: it cannot use EndpointSlice default/web-1.',
        'endpoints[0].nodeName is no name',
      ],
      verdict: [
        'broken: The proxy uses no EndpointSlice of default/web: it cannot use EndpointSlice default/web-1.',
        'next: correct the EndpointSlice',
        '$ kubectl -n default get endpointslice web-1 -o yaml',
      ],
    },
    {
      what: 'EXPLAIN-12 the endpoints are of the other family',
      question: 'web',
      facts: [[web, slice('web-1', ['fd00:10:244::2'], httpSlice)]],
      topic: 'endpoints',
      step: [
        'bad: The endpoints of default/web are IPv6 only, and this address is IPv4.',
        '1 endpoint in EndpointSlice default/web-1.',
      ],
      verdict: [
        'broken: The endpoints of default/web are IPv6 only, and this address is IPv4.',
        'next: give the Service IPv6, or the pods IPv4 addresses',
        "$ kubectl -n default get service web -o jsonpath='{.spec.ipFamilies}'",
      ],
    },
    {
      what: 'EXPLAIN-12 the endpoints are of the other family, in which the Service has an address',
      question: 'web',
      facts: [
        [
          service('web', {
            ports: http,
            clusterIP: '10.96.0.10',
            clusterIPs: ['10.96.0.10', 'fd00::10'],
            ipFamilies: ['IPv4', 'IPv6'],
          }),
          slice('web-1', ['fd00:10:244::2'], httpSlice),
        ],
      ],
      topic: 'endpoints',
      step: [
        'bad: The endpoints of default/web are IPv6 only, and this address is IPv4.',
        '1 endpoint in EndpointSlice default/web-1.',
      ],
      verdict: [
        'broken: The endpoints of default/web are IPv6 only, and this address is IPv4.',
        'next: use the IPv6 address',
        '$ kube-proxy explain [fd00::10]:80',
      ],
    },
    {
      what: 'EXPLAIN-12 targetPort is a name that no pod has',
      question: 'web',
      facts: [
        [
          service('web', { ports: [{ name: 'http', port: 80, targetPort: 'http' }], hasSelector: true }),
          slice('web-1', ['10.244.1.2'], { ports: [] }),
        ],
      ],
      topic: 'endpoints',
      step: ['bad: targetPort http of default/web:http is a name, and no pod has a container port of that name.'],
      verdict: [
        'broken: targetPort http of default/web:http is a name, and no pod has a container port of that name.',
        'next: name a container port http, or use a number as targetPort',
        '$ kubectl -n default describe service web',
      ],
    },
    {
      what: 'EXPLAIN-12 no endpoint is ready',
      question: 'web',
      facts: [
        [
          web,
          slice(
            'web-1',
            [
              { ip: '10.244.1.2', ready: false, serving: false, nodeName: 'node-a', targetRef: pod('web-0') },
              { ip: '10.244.1.3', ready: false, nodeName: 'node-b', zone: 'zone-b', targetRef: pod('web-1') },
            ],
            httpSlice,
          ),
        ],
      ],
      topic: 'endpoints',
      step: [
        'bad: None of the 2 endpoints of default/web:http is ready.',
        '· 10.244.1.2:8080  web-0  node-a (this node)          not ready',
        '· 10.244.1.3:8080  web-1  node-b              zone-b  not ready',
      ],
      verdict: [
        'broken: None of the 2 endpoints of default/web:http is ready.',
        'next: look at why the pods are not ready',
        '$ kubectl -n default describe pod web-0',
      ],
    },
    {
      what: 'EXPLAIN-12 the only endpoint terminates and no longer serves',
      question: 'web',
      facts: [
        [
          web,
          slice(
            'web-1',
            [{ ip: '10.244.1.2', ready: false, serving: false, terminating: true, targetRef: pod('web-0') }],
            httpSlice,
          ),
        ],
      ],
      topic: 'endpoints',
      step: [
        'bad: The only endpoint of default/web:http is terminating and no longer serves.',
        '· 10.244.1.2:8080  web-0  no longer serving',
      ],
      verdict: [
        'broken: The only endpoint of default/web:http is terminating and no longer serves.',
        'next: find out why no new pod is there',
        '$ kubectl -n default describe pod web-0',
      ],
    },
    {
      what: 'EXPLAIN-12 policy Local without an endpoint on this node',
      question: '192.168.0.2:30080',
      facts: [
        [
          local,
          slice(
            'web-1',
            [
              { ip: '10.244.2.2', nodeName: 'node-b' },
              { ip: '10.244.3.2', nodeName: 'node-c' },
            ],
            httpSlice,
          ),
        ],
      ],
      topic: 'endpoints',
      step: [
        'bad: externalTrafficPolicy is Local, and no endpoint of default/web:http that can serve is on node node-a.',
        'Endpoints are on node-b and node-c.',
        '· 10.244.2.2:8080  node-b  on another node',
        '· 10.244.3.2:8080  node-c  on another node',
      ],
      verdict: [
        'broken: externalTrafficPolicy is Local, and no endpoint of default/web:http that can serve is on node node-a.',
        'next: run a pod of the Service on this node, call a node that has one, or use policy Cluster',
        '$ kubectl -n default get endpointslices -l kubernetes.io/service-name=web -o wide',
      ],
    },
    {
      what: 'EXPLAIN-12 a Service without selector and without slices',
      question: 'web',
      facts: [[service('web', { ports: http, hasSelector: false })]],
      topic: 'endpoints',
      step: ['bad: default/web has no selector and no EndpointSlice, so nothing gives it endpoints.'],
      verdict: [
        'broken: default/web has no selector and no EndpointSlice, so nothing gives it endpoints.',
        'next: give it a selector, or make an EndpointSlice for it',
        '$ kubectl -n default edit service web',
      ],
    },
    {
      what: 'EXPLAIN-12 a Service with a selector and without slices',
      question: 'web',
      facts: [[web]],
      topic: 'endpoints',
      step: [
        'bad: No EndpointSlice belongs to default/web: no pod matches its selector, or no controller makes slices.',
      ],
      verdict: [
        'broken: No EndpointSlice belongs to default/web: no pod matches its selector, or no controller makes slices.',
        'next: compare the selector with the labels of the pods',
        '$ kubectl -n default describe service web',
      ],
    },
    {
      what: 'EXPLAIN-12 an empty slice',
      question: 'web',
      facts: [[web, slice('web-1', [], httpSlice)]],
      topic: 'endpoints',
      step: ['bad: The EndpointSlice of default/web is empty: no pod matches its selector.'],
      verdict: [
        'broken: The EndpointSlice of default/web is empty: no pod matches its selector.',
        'next: compare the selector with the labels of the pods',
        '$ kubectl -n default describe service web',
      ],
    },
  ]);
});
