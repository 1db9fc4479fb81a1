import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { type LocalDetector, Model } from '../../model/index.ts';
import { type Ip, parseCidr } from '../../net/index.ts';
import { Planner, type ServicePortPlan } from '../../plan/index.ts';
import type { RenderOptions } from './portals/render-options.ts';
import { neededPolicies, refusing, render } from './render.ts';

const cidr = (text: string) => {
  const parsed = parseCidr(text);
  assert.ok(parsed);
  return parsed;
};
const PODS: LocalDetector = { kind: 'source-cidr', cidr: cidr('10.244.0.0/16') };
const OPTIONS: RenderOptions = {
  localDetector: PODS,
  nodePortRanges: undefined,
  listenIP: undefined,
  hostIP: '192.168.0.2' as Ip,
};

function planOf(...objects: readonly [ReturnType<typeof service>, ...ReturnType<typeof slice>[]]): ServicePortPlan {
  const [first, ...slices] = objects;
  const family = first.spec.clusterIP.includes(':') ? 'IPv6' : 'IPv4';
  const model = new Model({ family, nodeName: 'node-a', startedAt: 0, report: () => {} });
  const planner = new Planner(model, {
    node: { name: 'node-a', zone: '' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: PODS,
    masqueradeAll: false,
    allowExternalIPs: true,
  });
  model.setService(first);
  for (const each of slices) model.setEndpointSlice(each);
  const [plan] = planner.update(model.take()).added;
  assert.ok(plan);
  return plan;
}

function lines(plan: ServicePortPlan, ports = { Cluster: 40001, Local: 40002 }, options: Partial<RenderOptions> = {}) {
  const needed = neededPolicies(plan);
  const used = Object.fromEntries(
    Object.entries(ports).filter(([policy]) => [...needed].some(each => each === policy)),
  );
  return render(plan, used, { ...OPTIONS, ...options }).map(({ chain, text }) => `${chain} ${text}`);
}

const HTTP = { name: 'http', protocol: 'TCP', port: 80 } as const;
const ENDPOINTS = slice('demo/web-1', ['10.244.1.2'], { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] });
const everywhere = service('demo/web', {
  type: 'LoadBalancer',
  clusterIP: '10.96.10.20',
  externalIPs: ['198.51.100.7'],
  ingress: [{ ip: '203.0.113.10' }],
  ports: [{ ...HTTP, nodePort: 30080 }],
});
const AT = '-p tcp -m comment --comment demo/web:http -m tcp --dport';

describe('rules', () => {
  test('USER-2 every frontend has a portal that leads to the proxy port', () => {
    const portal = (ip: string) => [
      `KUBE-PORTALS-CONTAINER -d ${ip}/32 ${AT} 80 -j REDIRECT --to-ports 40001`,
      `KUBE-PORTALS-HOST -d ${ip}/32 ${AT} 80 -j DNAT --to-destination 192.168.0.2:40001`,
    ];
    assert.deepEqual(lines(planOf(everywhere, ENDPOINTS)), [
      ...portal('10.96.10.20'),
      ...portal('198.51.100.7'),
      ...portal('203.0.113.10'),
      `KUBE-NODEPORT-CONTAINER ${AT} 30080 -j REDIRECT --to-ports 40001`,
      `KUBE-NODEPORT-HOST ${AT} 30080 -j DNAT --to-destination 192.168.0.2:40001`,
      `KUBE-NODEPORT-NON-LOCAL ${AT} 40001 -m state --state NEW -m conntrack --ctstate DNAT -j ACCEPT`,
      `KUBE-PORTALS-FILTER ${AT} 40001 -m addrtype --dst-type LOCAL -m conntrack ! --ctstate DNAT -j REJECT`,
    ]);
  });

  test('USER-2 if proxies listen at one address, all portals lead there', () => {
    const all = lines(planOf(everywhere, ENDPOINTS), undefined, { listenIP: '192.168.0.9' as Ip });
    assert.ok(all.includes(`KUBE-NODEPORT-CONTAINER ${AT} 30080 -j DNAT --to-destination 192.168.0.9:40001`));
    assert.ok(all.includes(`KUBE-NODEPORT-HOST ${AT} 30080 -j DNAT --to-destination 192.168.0.9:40001`));
  });

  test('USER-2 without an address of the node its own connections stay on loopback', () => {
    const all = lines(planOf(everywhere, ENDPOINTS), undefined, { hostIP: undefined });
    assert.ok(all.includes(`KUBE-NODEPORT-HOST ${AT} 30080 -j REDIRECT --to-ports 40001`));
  });

  test('USER-2 an IPv6 address with a port has brackets', () => {
    const plan = planOf(
      service('demo/web', { clusterIP: 'fd00:10:96::1', ports: [HTTP] }),
      slice('demo/web-1', ['fd00::5'], { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] }),
    );
    const all = lines(plan, undefined, { hostIP: 'fd00::2' as Ip });
    assert.equal(all[1], `KUBE-PORTALS-HOST -d fd00:10:96::1/128 ${AT} 80 -j DNAT --to-destination [fd00::2]:40001`);
  });

  test('USER-5 node ports have portals only at addresses that accept them', () => {
    const all = lines(planOf(everywhere, ENDPOINTS), undefined, { nodePortRanges: [cidr('192.168.0.2/32')] });
    const nodePorts = all.filter(line => line.includes('NODEPORT-CONTAINER'));
    assert.deepEqual(nodePorts, [`KUBE-NODEPORT-CONTAINER -d 192.168.0.2/32 ${AT} 30080 -j REDIRECT --to-ports 40001`]);
    const none = lines(planOf(everywhere, ENDPOINTS), undefined, { nodePortRanges: [] });
    assert.ok(!none.some(line => line.includes('30080')));
  });
});

describe('policies', () => {
  const local = service('demo/web', {
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    ports: [{ ...HTTP, nodePort: 30080 }],
  });
  const here = slice('demo/web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }, '10.244.2.3'], {
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  });
  const elsewhere = slice('demo/web-1', [{ ip: '10.244.2.3', nodeName: 'node-b' }], {
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  });
  const container = (all: readonly string[]) => all.filter(line => line.startsWith('KUBE-NODEPORT-CONTAINER'));

  test('USER-3 policy Local has its own proxy port, but pods and the node go to all endpoints', () => {
    const all = lines(planOf(local, here));
    assert.deepEqual(container(all), [
      `KUBE-NODEPORT-CONTAINER -s 10.244.0.0/16 ${AT} 30080 -j REDIRECT --to-ports 40001`,
      `KUBE-NODEPORT-CONTAINER ${AT} 30080 -j REDIRECT --to-ports 40002`,
    ]);
    assert.ok(all.includes(`KUBE-NODEPORT-HOST ${AT} 30080 -j DNAT --to-destination 192.168.0.2:40001`));
  });

  test('USER-3 the local detector can match pods by their interface', () => {
    const by = (localDetector: LocalDetector) => container(lines(planOf(local, here), undefined, { localDetector }))[0];
    assert.equal(
      by({ kind: 'interface', name: 'cni0' }),
      `KUBE-NODEPORT-CONTAINER -i cni0 ${AT} 30080 -j REDIRECT --to-ports 40001`,
    );
    assert.equal(
      by({ kind: 'interface-prefix', prefix: 'veth' }),
      `KUBE-NODEPORT-CONTAINER -i veth+ ${AT} 30080 -j REDIRECT --to-ports 40001`,
    );
  });

  test('USER-3 policy Local without a local endpoint drops connections from outside', () => {
    const all = lines(planOf(local, elsewhere));
    assert.deepEqual(container(all), [
      `KUBE-NODEPORT-CONTAINER -s 10.244.0.0/16 ${AT} 30080 -j REDIRECT --to-ports 40001`,
    ]);
    assert.ok(all.includes(`KUBE-PORTALS-FILTER ${AT} 30080 -m addrtype --dst-type LOCAL -j DROP`));
  });

  test('USER-3 without endpoints every frontend refuses, and there is no proxy', () => {
    const plan = planOf(everywhere);
    assert.deepEqual([...neededPolicies(plan)], []);
    const refused = (ip: string) => `KUBE-PORTALS-FILTER -d ${ip}/32 ${AT} 80 -j REJECT`;
    assert.deepEqual(lines(plan), [
      refused('10.96.10.20'),
      refused('198.51.100.7'),
      refused('203.0.113.10'),
      `KUBE-PORTALS-FILTER ${AT} 30080 -m addrtype --dst-type LOCAL -j REJECT`,
    ]);
  });

  test('USER-20 after the end of the proxy, frontends that forwarded refuse', () => {
    assert.deepEqual(lines(refusing(planOf(everywhere, ENDPOINTS))), lines(planOf(everywhere)));
  });

  test('USER-24 no rule matches the port of health checks', () => {
    const external = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 } as const;
    const plan = planOf(service('demo/web', { ...external, ports: [{ ...HTTP, nodePort: 30080 }] }), ENDPOINTS);
    assert.equal(plan.port.healthCheckNodePort, 31000);
    const rules = lines(plan);
    assert.ok(rules.some(rule => rule.includes('30080')));
    assert.ok(!rules.some(rule => rule.includes('31000')));
  });
});

describe('source ranges', () => {
  const guarded = (sourceRanges: readonly string[], externalTrafficPolicy = '') =>
    service('demo/web', {
      type: 'LoadBalancer',
      externalTrafficPolicy,
      loadBalancerSourceRanges: sourceRanges,
      ingress: [{ ip: '203.0.113.10' }],
      ports: [HTTP],
    });
  const of = (plan: ServicePortPlan, chain: string) =>
    lines(plan).filter(line => line.startsWith(chain) && line.includes('203.0.113.10/32'));

  test('USER-3 only clients in the source ranges reach the proxy, and others are dropped', () => {
    const plan = planOf(guarded(['10.0.0.0/8', '192.168.0.0/24']), ENDPOINTS);
    const at = `-d 203.0.113.10/32 ${AT} 80`;
    assert.deepEqual(of(plan, 'KUBE-PORTALS-CONTAINER'), [
      `KUBE-PORTALS-CONTAINER -s 10.0.0.0/8 ${at} -j REDIRECT --to-ports 40001`,
      `KUBE-PORTALS-CONTAINER -s 192.168.0.0/24 ${at} -j REDIRECT --to-ports 40001`,
      `KUBE-PORTALS-CONTAINER -s 203.0.113.10/32 ${at} -j REDIRECT --to-ports 40001`,
    ]);
    assert.deepEqual(of(plan, 'KUBE-PORTALS-FILTER'), [`KUBE-PORTALS-FILTER ${at} -j DROP`]);
  });

  test('USER-3 without endpoints clients in the source ranges are refused', () => {
    const at = `-d 203.0.113.10/32 ${AT} 80`;
    assert.deepEqual(of(planOf(guarded(['10.0.0.0/8'])), 'KUBE-PORTALS-FILTER'), [
      `KUBE-PORTALS-FILTER -s 10.0.0.0/8 ${at} -j REJECT`,
      `KUBE-PORTALS-FILTER ${at} -j DROP`,
    ]);
  });

  test('USER-3 only pods in the source ranges are short-circuited', () => {
    const here = slice('demo/web-1', [{ ip: '10.244.1.2', nodeName: 'node-a' }], {
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    });
    const sources = (range: string) =>
      of(planOf(guarded([range], 'Local'), here), 'KUBE-PORTALS-CONTAINER').map(
        line => `${/-s (\S+)/.exec(line)?.[1]} ${line.slice(-5)}`,
      );
    assert.deepEqual(sources('10.0.0.0/8'), ['10.244.0.0/16 40001', '10.0.0.0/8 40002']);
    assert.deepEqual(sources('10.244.7.0/24'), ['10.244.7.0/24 40001', '10.244.7.0/24 40002']);
    assert.deepEqual(sources('172.16.0.0/12'), ['172.16.0.0/12 40002']);
  });
});
