import { describe } from 'node:test';
import { http, httpSlice, local, testTexts, web, webSlice } from '../../../test/support/explain-cases.ts';
import { service, slice } from '../../../test/support/objects.ts';

describe('Services that are not there, or not as the operator thinks', () => {
  testTexts([
    {
      what: 'EXPLAIN-5 another Service owns the cluster IP',
      question: 'b',
      facts: [[service('a', { clusterIP: '10.96.0.10' }), service('b', { clusterIP: '10.96.0.10' })]],
      topic: 'service',
      step: [
        'bad: 10.96.0.10:80 of default/b belongs to Service default/a, which wants it too.',
        'Two Services cannot have one address and port. Connections go to the owner.',
      ],
      verdict: [
        'broken: 10.96.0.10:80 of default/b belongs to Service default/a, which wants it too.',
        'next: give one of the two another address',
        '$ kubectl -n default get service a -o wide',
      ],
    },
    {
      what: 'EXPLAIN-5 another Service owns an external IP of the Service',
      question: 'b',
      facts: [
        [
          service('a', { clusterIP: '10.96.0.10' }),
          service('b', { clusterIP: '10.96.0.11', externalIPs: ['10.96.0.10'] }),
          slice('b-1', ['10.244.1.2']),
        ],
      ],
      topic: 'service',
      step: [
        'note: 10.96.0.11:80/TCP is the cluster IP of default/b.',
        '10.96.0.10:80 belongs to Service default/a, which wants it too.',
      ],
      verdict: [
        'works: By the plan, a connection from any pod to 10.96.0.11:80/TCP is answered by endpoint 10.244.1.2:8080 of default/b.',
        'next: if it still fails, ask the proxy of the node, which also reads the kernel',
      ],
    },
    {
      what: 'EXPLAIN-5 another Service wants the address that is asked for',
      question: '10.96.0.10:80',
      facts: [
        [
          service('a', { clusterIP: '10.96.0.10' }),
          service('b', { clusterIP: '10.96.0.11', externalIPs: ['10.96.0.10'] }),
          slice('a-1', ['10.244.1.2']),
        ],
      ],
      topic: 'service',
      step: [
        'note: 10.96.0.10:80/TCP is the cluster IP of default/a.',
        'default/b wants this address, too, and does not get it.',
      ],
      verdict: [
        'works: By the plan, a connection from any pod to 10.96.0.10:80/TCP is answered by endpoint 10.244.1.2:8080 of default/a.',
        'next: if it still fails, ask the proxy of the node, which also reads the kernel',
      ],
    },
    {
      what: 'EXPLAIN-6 no Service has the name: the nearest one, and the same name in other namespaces',
      question: 'webb',
      facts: [[web, service('shop/webb')]],
      topic: 'service',
      step: [
        'unknown: The proxy knows no Service default/webb.',
        'The nearest name is default/web.',
        'Other namespaces have a Service webb: shop.',
        'It does not watch headless Services, nor Services with the label service.kubernetes.io/service-proxy-name.',
      ],
      verdict: [
        'unknown: The proxy knows no Service default/webb. It does not exist, it is headless, or another proxy serves it.',
        'next: ask for default/web instead',
        '$ kube-proxy explain default/web',
      ],
    },
    {
      what: 'EXPLAIN-6 no Service has the namespace',
      question: 'shp/web',
      facts: [[web], { origin: 'manifests' }],
      topic: 'service',
      step: [
        'bad: There is no Service shp/web.',
        'Other namespaces have a Service web: default.',
        'No Service is in namespace shp.',
      ],
      verdict: [
        'broken: There is no Service shp/web.',
        'next: ask for default/web instead',
        '$ kube-proxy explain default/web',
      ],
    },
    {
      what: 'EXPLAIN-6 slices name a Service that does not exist',
      question: 'wbe',
      facts: [[web, slice('web-1', ['10.244.1.2'], { service: 'wbe', ...httpSlice })], { origin: 'manifests' }],
      topic: 'service',
      step: [
        'bad: There is no Service default/wbe.',
        'The nearest name is default/web.',
        'EndpointSlice default/web-1 names this Service, and so has no effect.',
      ],
      verdict: [
        'broken: There is no Service default/wbe.',
        'next: ask for default/web instead',
        '$ kube-proxy explain default/web',
      ],
    },
    {
      what: 'EXPLAIN-6 slices name a Service that the proxy does not know, so it is not headless',
      question: 'db',
      facts: [[slice('db-1', ['10.244.1.2'], { service: 'db' })]],
      topic: 'service',
      step: [
        'bad: There is no Service default/db.',
        'No Service is in namespace default.',
        'EndpointSlice default/db-1 names this Service, and so has no effect.',
      ],
      verdict: [
        'broken: There is no Service default/db.',
        'next: list the Services of the namespace',
        '$ kubectl -n default get services',
      ],
    },
    {
      what: 'EXPLAIN-6 a headless Service',
      question: 'db',
      facts: [[service('db', { clusterIP: 'None' })]],
      topic: 'service',
      step: [
        'unknown: default/db is headless: DNS answers with the addresses of its pods, and kube-proxy has no part in it.',
      ],
      verdict: [
        'unknown: default/db is headless: DNS answers with the addresses of its pods, and kube-proxy has no part in it.',
        'next: look at the addresses of its endpoints',
        '$ kubectl -n default get endpointslices -l kubernetes.io/service-name=db',
      ],
    },
    {
      what: 'EXPLAIN-6 a Service of type ExternalName',
      question: 'db',
      facts: [[service('db', { type: 'ExternalName', clusterIP: '' })]],
      topic: 'service',
      step: [
        'unknown: default/db is of type ExternalName: DNS answers with another name, and kube-proxy has no part in it.',
      ],
      verdict: [
        'unknown: default/db is of type ExternalName: DNS answers with another name, and kube-proxy has no part in it.',
        'next: look up the name that DNS answers with',
        "$ kubectl -n default get service db -o jsonpath='{.spec.externalName}'",
      ],
    },
    {
      what: 'EXPLAIN-6 a Service without a cluster IP',
      question: 'db',
      facts: [[service('db', { clusterIP: '' })]],
      topic: 'service',
      step: ['bad: default/db has no cluster IP yet: the API server has not given it one.'],
      verdict: [
        'broken: default/db has no cluster IP yet: the API server has not given it one.',
        'next: look at the Service',
        '$ kubectl -n default get service db -o yaml',
      ],
    },
    {
      what: 'EXPLAIN-6 a Service of another proxy',
      question: 'db',
      facts: [[service('db', { labels: { 'service.kubernetes.io/service-proxy-name': 'cilium' } })]],
      topic: 'service',
      step: [
        'unknown: Another proxy serves default/db: it has the label service.kubernetes.io/service-proxy-name=cilium, so kube-proxy ignores it.',
      ],
      verdict: [
        'unknown: Another proxy serves default/db: it has the label service.kubernetes.io/service-proxy-name=cilium, so kube-proxy ignores it.',
        'next: look at the Service',
        '$ kubectl -n default get service db -o yaml',
      ],
    },
    {
      what: 'EXPLAIN-6 a Service that the proxy cannot use',
      question: 'web',
      facts: [[service('web', { clusterIP: '10.96.0.300', ports: http })]],
      topic: 'service',
      step: ['bad: The proxy cannot use Service default/web.', 'spec.clusterIP "10.96.0.300" is not an IP address'],
      verdict: [
        'broken: The proxy cannot use Service default/web.',
        'next: correct the Service',
        '$ kubectl -n default edit service web',
      ],
    },
    {
      what: 'EXPLAIN-6 a Service with addresses of another family than the node',
      question: 'web',
      facts: [[service('web', { clusterIP: 'fd00::10' })], { families: ['IPv4'] }],
      topic: 'service',
      step: ['bad: default/web has only IPv6 addresses, and this node serves only IPv4.'],
      verdict: [
        'broken: default/web has only IPv6 addresses, and this node serves only IPv4.',
        'next: look at the families of the Service',
        "$ kubectl -n default get service web -o jsonpath='{.spec.ipFamilies}'",
      ],
    },
    {
      what: "EXPLAIN-7 the number is that of the pods' port",
      question: 'web:8080',
      facts: [[web]],
      topic: 'service',
      step: [
        'bad: Service default/web has no port 8080.',
        'It has the port http 80/TCP.',
        '8080 is the target port, at the pods. Callers use 80.',
      ],
      verdict: [
        'broken: Service default/web has no port 8080.',
        'next: use port http 80/TCP',
        '$ kube-proxy explain default/web:http',
      ],
    },
    {
      what: 'EXPLAIN-7 the name of the port is misspelt',
      question: 'web:htp',
      facts: [[web]],
      topic: 'service',
      step: ['bad: Service default/web has no port htp.', 'It has the port http 80/TCP.'],
      verdict: [
        'broken: Service default/web has no port htp.',
        'next: use port http 80/TCP',
        '$ kube-proxy explain default/web:http',
      ],
    },
    {
      what: 'EXPLAIN-7 the number is that of the node port',
      question: 'web:30080',
      facts: [[local]],
      topic: 'service',
      step: [
        'bad: Service default/web has no port 30080.',
        'It has the port http 80/TCP.',
        '30080 is the node port of port http 80/TCP: ask for NODE-IP:30080.',
      ],
      verdict: [
        'broken: Service default/web has no port 30080.',
        'next: use port http 80/TCP',
        '$ kube-proxy explain default/web:http',
      ],
    },
    {
      what: 'EXPLAIN-7 the port has another protocol',
      question: 'web:80/udp',
      facts: [[web]],
      topic: 'service',
      step: ['bad: Service default/web has no port 80/UDP.', 'It has the port http 80/TCP.'],
      verdict: [
        'broken: Service default/web has no port 80/UDP.',
        'next: use port http 80/TCP',
        '$ kube-proxy explain default/web:http',
      ],
    },
    {
      what: 'EXPLAIN-7 several ports and none is named: each in short',
      question: 'web',
      facts: [
        [
          service('web', {
            ports: [
              { name: 'http', port: 80 },
              { name: 'https', port: 443 },
            ],
          }),
          webSlice,
        ],
      ],
      topic: 'port',
      step: [
        'good: default/web:http at 10.96.0.1:80/TCP is answered by one endpoint.',
        'bad: default/web:https at 10.96.0.1:443/TCP is refused: EndpointSlice default/web-1 has no port named https (TCP): its ports are http (TCP).',
      ],
      verdict: [
        'broken: default/web:https at 10.96.0.1:443/TCP is refused: EndpointSlice default/web-1 has no port named https (TCP): its ports are http (TCP).',
        'next: make the names equal',
        '$ kubectl -n default get endpointslices -l kubernetes.io/service-name=web -o yaml',
      ],
    },
  ]);
});
