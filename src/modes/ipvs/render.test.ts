import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planned } from '../../../test/support/ipvs-plan.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { printElement } from '../../kernel/ipset/index.ts';
import { Model, parseNodePortAddresses } from '../../model/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import { Planner } from '../../plan/index.ts';
import { render, renderContext } from './render.ts';

const LOCAL = { nodeName: 'node-a' } as const;
const TCP = [{ name: '', protocol: 'TCP', port: 8080 }] as const;

const dualStack = (clusterIPs: string[], families: string[], more = {}) =>
  service('web', { clusterIP: clusterIPs[0] ?? '', clusterIPs, ipFamilies: families, ...more });

/** Virtual servers without real servers, and the number of those each has. */
function summary({ servers }: { readonly servers: readonly string[] }): readonly string[] {
  return servers
    .filter(line => line.startsWith('-A'))
    .map(line => {
      const key = line.split(' ').slice(1, 3).join(' ');
      return `${key} ${servers.filter(real => real.startsWith(`-a ${key} `)).length}`;
    });
}

describe('node ports', () => {
  const nodePort = { nodeIPs: ['100.101.102.103', '2001:db8::1:1'] };

  test('IPVS-4 only the family is programmed: virtual servers at the cluster IP and at IPv4 addresses of the node', () => {
    const objects = [
      dualStack(['10.20.30.41', '2020::1'], ['IPv4', 'IPv6'], { ports: [{ nodePort: 3001 }] }),
      slice('web-1', ['10.180.0.1']),
      slice('web-2', ['1002:ab8::2:10']),
    ];
    assert.deepEqual(planned(objects, nodePort).servers, [
      '-A -t 10.20.30.41:80 -s rr',
      '-a -t 10.20.30.41:80 -r 10.180.0.1:8080 -m -w 1',
      '-A -t 100.101.102.103:3001 -s rr',
      '-a -t 100.101.102.103:3001 -r 10.180.0.1:8080 -m -w 1',
    ]);
    assert.deepEqual(planned(objects, { ...nodePort, family: 'IPv6' }).servers, [
      '-A -t [2001:db8::1:1]:3001 -s rr',
      '-a -t [2001:db8::1:1]:3001 -r [1002:ab8::2:10]:8080 -m -w 1',
      '-A -t [2020::1]:80 -s rr',
      '-a -t [2020::1]:80 -r [1002:ab8::2:10]:8080 -m -w 1',
    ]);
  });

  test('IPVS-4 a UDP node port is in the UDP bitmap; the other family has nothing at all', () => {
    const objects = [
      service('dns', { clusterIP: '10.20.30.41', ports: [{ protocol: 'UDP', port: 80, nodePort: 3001 }] }),
      slice('dns-1', ['10.180.0.1'], { ports: [{ name: '', protocol: 'UDP', port: 80 }] }),
    ];
    const options = { ...nodePort, nodePortAddresses: ['0.0.0.0/0'] };
    const { sets, servers } = planned(objects, options);
    assert.deepEqual(sets, {
      'KUBE-CLUSTER-IP': ['10.20.30.41,udp:80'],
      'KUBE-NODE-PORT-UDP': ['3001'],
      'KUBE-IPVS-IPS': ['10.20.30.41'],
    });
    assert.ok(servers.includes('-a -u 100.101.102.103:3001 -r 10.180.0.1:80 -m -w 1'));
    const other = planned(objects, { ...nodePort, family: 'IPv6' });
    assert.deepEqual([other.servers, other.sets, other.addresses], [[], {}, []]);
  });

  test('IPVS-4 without endpoints virtual servers are there and have no real servers', () => {
    const v4 = [service('web', { clusterIP: '10.20.30.41', ports: [{ nodePort: 3001 }] })];
    assert.deepEqual(summary(planned(v4, nodePort)), ['-t 10.20.30.41:80 0', '-t 100.101.102.103:3001 0']);
    const v6 = [service('web', { clusterIP: '2020::1', ports: [{ nodePort: 3001 }] })];
    assert.deepEqual(summary(planned(v6, { ...nodePort, family: 'IPv6' })), [
      '-t [2001:db8::1:1]:3001 0',
      '-t [2020::1]:80 0',
    ]);
  });

  test('IPVS-4 SCTP: one virtual server and one element for each address of the node', () => {
    const ports = [{ name: '', protocol: 'SCTP', port: 8080 }] as const;
    const objects = (clusterIP: string, ip: string) => [
      service('s', { clusterIP, ports: [{ protocol: 'SCTP', port: 8080, nodePort: 3001 }] }),
      slice('s-1', [ip], { ports }),
    ];
    const nodeIPs = ['100.101.102.103', '100.101.102.104', '2001:db8::1:1', '2001:db8::1:2'];
    const v4 = planned(objects('10.20.30.41', '10.180.0.1'), { nodeIPs });
    assert.deepEqual(v4.sets['KUBE-NODE-PORT-SCTP-HASH'], ['100.101.102.103,sctp:3001', '100.101.102.104,sctp:3001']);
    assert.equal(summary(v4).length, 3);
    const v6 = planned(objects('2020::1', '2002::1'), { nodeIPs, family: 'IPv6' });
    assert.deepEqual(v6.sets['KUBE-6-NODE-PORT-SCTP-HASH'], ['2001:db8::1:1,sctp:3001', '2001:db8::1:2,sctp:3001']);
    assert.ok(v6.servers.includes('-a --sctp-service [2001:db8::1:2]:3001 -r [2002::1]:8080 -m -w 1'));
  });

  test('IPVS-4 SCTP with external policy Local: the node port has the local endpoint only, the cluster IP both', () => {
    const { sets, servers } = planned(
      [
        service('s', {
          clusterIP: '10.20.30.41',
          type: 'NodePort',
          externalTrafficPolicy: 'Local',
          ports: [{ protocol: 'SCTP', port: 8080, nodePort: 3001 }],
        }),
        slice('s-1', [{ ip: '10.180.0.1', ...LOCAL }, '10.180.1.1'], {
          ports: [{ name: '', protocol: 'SCTP', port: 8080 }],
        }),
      ],
      nodePort,
    );
    assert.deepEqual(summary({ servers }), [
      '--sctp-service 10.20.30.41:8080 2',
      '--sctp-service 100.101.102.103:3001 1',
    ]);
    assert.deepEqual(sets['KUBE-NODE-PORT-SCTP-HASH'], ['100.101.102.103,sctp:3001']);
    assert.deepEqual(sets['KUBE-NODE-PORT-LOCAL-SCTP-HASH'], ['100.101.102.103,sctp:3001']);
  });

  test('IPVS-4 addresses: all but loopback and IPv6 link-local ones; without any there is no node port', () => {
    const nodeIPs = ['127.0.0.1', '169.254.1.1', '192.168.0.2', '::1', 'fe80::1', 'fd00::2'];
    const objects = [service('web', { clusterIP: '10.0.0.1', ports: [{ nodePort: 3001 }] })];
    assert.deepEqual(summary(planned(objects, { nodeIPs })), [
      '-t 10.0.0.1:80 0',
      '-t 169.254.1.1:3001 0',
      '-t 192.168.0.2:3001 0',
    ]);
    const v6 = [service('web', { clusterIP: 'fd00::a', ports: [{ nodePort: 3001 }] })];
    assert.deepEqual(summary(planned(v6, { nodeIPs, family: 'IPv6' })), ['-t [fd00::2]:3001 0', '-t [fd00::a]:80 0']);
    const none = planned(objects, { nodeIPs: ['127.0.0.1'] });
    assert.deepEqual(summary(none), ['-t 10.0.0.1:80 0']);
    assert.equal(none.sets['KUBE-NODE-PORT-TCP'], undefined);
  });

  test('IPVS-4 with ranges only the addresses in them, and policy Local is in both bitmaps', () => {
    const { sets, servers } = planned(
      [
        service('web', {
          clusterIP: '10.20.30.41',
          type: 'LoadBalancer',
          externalTrafficPolicy: 'Local',
          healthCheckNodePort: 32000,
          ports: [{ nodePort: 3001 }],
        }),
        slice('web-1', [{ ip: '10.180.0.1', ...LOCAL }, '10.180.1.1']),
      ],
      {
        nodeIPs: ['100.101.102.103', '192.168.0.2'],
        nodePortAddresses: ['100.101.102.0/24'],
        settings: { nodePortIPs: ['100.101.102.103'] as never },
      },
    );
    assert.deepEqual(summary({ servers }), ['-t 10.20.30.41:80 2', '-t 100.101.102.103:3001 1']);
    assert.deepEqual(sets['KUBE-NODE-PORT-TCP'], ['3001']);
    assert.deepEqual(sets['KUBE-NODE-PORT-LOCAL-TCP'], ['3001']);
    assert.deepEqual(sets['KUBE-HEALTH-CHECK-NODE-PORT'], ['32000']);
  });

  test('IPVS-4 no node port is at a loopback address, also if it is in the ranges', () => {
    const objects = [
      service('web', { clusterIP: '10.0.0.1', ports: [{ nodePort: 3001 }] }),
      service('sctp', { clusterIP: '10.0.0.2', ports: [{ protocol: 'SCTP', port: 80, nodePort: 3002 }] }),
    ];
    const nodePortAddresses = ['127.0.0.0/8', '192.168.0.0/16'];
    const nodePortIPs = ['127.0.0.1', '192.168.0.2'];
    const both = planned(objects, { nodePortAddresses, settings: { nodePortIPs: nodePortIPs as never } });
    assert.deepEqual(
      summary(both).filter(line => line.includes(':300')),
      ['--sctp-service 192.168.0.2:3002 0', '-t 192.168.0.2:3001 0'],
    );
    assert.deepEqual(both.sets['KUBE-NODE-PORT-SCTP-HASH'], ['192.168.0.2,sctp:3002']);
    const none = planned(objects, { nodePortAddresses, settings: { nodePortIPs: ['127.0.0.1'] as never } });
    assert.equal(none.sets['KUBE-NODE-PORT-TCP'], undefined);
  });
});

describe('cluster IPs', () => {
  test('IPVS-1 each family has its own Services and endpoints', () => {
    const objects = [
      service('a', { clusterIP: '10.20.30.41' }),
      slice('a-1', ['10.180.0.1']),
      service('b', { clusterIP: '1002:ab8::2:1' }),
      slice('b-1', ['1009:ab8::5:6']),
    ];
    assert.deepEqual(summary(planned(objects)), ['-t 10.20.30.41:80 1']);
    assert.deepEqual(summary(planned(objects, { family: 'IPv6' })), ['-t [1002:ab8::2:1]:80 1']);
  });

  test('IPVS-1 headless Services and ExternalName have nothing', () => {
    const objects = [
      service('headless', { clusterIP: 'None', ports: [{ protocol: 'SCTP', port: 7 }] }),
      service('name', { clusterIP: '172.16.55.4', type: 'ExternalName' }),
    ];
    assert.deepEqual(planned(objects).servers, []);
  });

  test('IPVS-14 internal policy Local: local endpoints; without any, none for a mere cluster IP, all for one that is reachable from outside', () => {
    const local = { internalTrafficPolicy: 'Local' } as const;
    const here = [{ ip: '10.0.1.1', ...LOCAL }, '10.0.1.2', '10.0.1.3'];
    const elsewhere = ['10.0.1.2', '10.0.1.3'];
    const counts = (spec: object, endpoints: Parameters<typeof slice>[1]) => {
      const { sets, servers } = planned([service('s', spec), slice('s-1', endpoints, { ports: TCP })]);
      return [summary({ servers })[0], sets['KUBE-LOOP-BACK'] ?? []];
    };
    assert.deepEqual(counts({}, here), ['-t 10.96.0.1:80 3', ['10.0.1.1,tcp:8080,10.0.1.1']]);
    assert.deepEqual(counts({}, elsewhere), ['-t 10.96.0.1:80 2', []]);
    assert.deepEqual(counts(local, here), ['-t 10.96.0.1:80 1', ['10.0.1.1,tcp:8080,10.0.1.1']]);
    assert.deepEqual(counts(local, elsewhere), ['-t 10.96.0.1:80 0', []]);
    assert.deepEqual(counts({ ...local, ports: [{ nodePort: 3001 }] }, elsewhere), ['-t 10.96.0.1:80 2', []]);
  });

  test('IPVS-15 session affinity is persistence on every virtual server of the port', () => {
    const { servers } = planned([
      service('s', {
        sessionAffinity: 'ClientIP',
        sessionAffinityTimeoutSeconds: 10800,
        externalIPs: ['50.60.70.81'],
        ports: [{ nodePort: 3001 }],
      }),
    ]);
    assert.deepEqual(servers, [
      '-A -t 10.96.0.1:80 -s rr -p 10800',
      '-A -t 192.168.0.2:3001 -s rr -p 10800',
      '-A -t 50.60.70.81:80 -s rr -p 10800',
    ]);
  });

  test('IPVS-5 the configured scheduler is used, and maglev hashes ports too', () => {
    assert.deepEqual(planned([service('s')], { scheduler: 'sh' }).servers, ['-A -t 10.96.0.1:80 -s sh']);
    assert.deepEqual(planned([service('s')], { scheduler: 'mh' }).servers, ['-A -t 10.96.0.1:80 -s mh -b mh-port']);
  });
});

describe('endpoints that come and go', () => {
  const service1 = service('s', {
    clusterIP: '172.20.1.1',
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    externalIPs: ['1.2.3.4'],
  });
  const ready = { ready: true, serving: true, terminating: false };
  const terminating = { ready: false, serving: true, terminating: true };
  const gone = { ready: false, serving: false, terminating: true };
  const at = (states: readonly [string, object][]) =>
    states.map(([ip, state]) => ({ ip, nodeName: ip.startsWith('10.0.1.') ? 'node-a' : 'node-b', ...state }));
  const real = (objects: Parameters<typeof planned>[0], key: string) =>
    planned(objects)
      .servers.filter(line => line.startsWith(`-a -t ${key} `))
      .map(line => line.split(' ')[4]);

  test('IPVS-14 ready ones only, if there are some; hairpins are kept for all on this node', () => {
    const states = at([
      ['10.0.1.1', ready],
      ['10.0.1.2', ready],
      ['10.0.1.3', terminating],
      ['10.0.1.4', gone],
      ['10.0.2.1', ready],
    ]);
    const objects = [service1, slice('s-1', states)];
    assert.deepEqual(real(objects, '172.20.1.1:80'), ['10.0.1.1:8080', '10.0.1.2:8080', '10.0.2.1:8080']);
    assert.deepEqual(real(objects, '1.2.3.4:80'), ['10.0.1.1:8080', '10.0.1.2:8080']);
    assert.equal(planned(objects).sets['KUBE-LOOP-BACK']?.length, 4);
  });

  test('IPVS-14 those that serve while terminating, if none is ready; local ones where local ones count', () => {
    const states = at([
      ['10.0.1.1', terminating],
      ['10.0.1.4', gone],
      ['10.0.2.1', terminating],
    ]);
    const objects = [service1, slice('s-1', states)];
    assert.deepEqual(real(objects, '172.20.1.1:80'), ['10.0.1.1:8080', '10.0.2.1:8080']);
    const elsewhere = [service1, slice('s-1', [...states, ...at([['10.0.2.2', ready]])])];
    assert.deepEqual(real(elsewhere, '172.20.1.1:80'), ['10.0.2.2:8080']);
    assert.deepEqual(real(elsewhere, '1.2.3.4:80'), ['10.0.1.1:8080']);
  });
});

describe('addresses from outside', () => {
  test('IPVS-1 external IPs of the family, with and without endpoints', () => {
    const web = service('s', { externalIPs: ['50.60.70.81', '2012::51', '127.0.0.1'] });
    assert.deepEqual(summary(planned([web])), ['-t 10.96.0.1:80 0', '-t 127.0.0.1:80 0', '-t 50.60.70.81:80 0']);
    const { sets, servers } = planned([web, slice('s-1', ['10.180.0.1'])]);
    assert.deepEqual(summary({ servers }), ['-t 10.96.0.1:80 1', '-t 127.0.0.1:80 1', '-t 50.60.70.81:80 1']);
    assert.deepEqual(sets['KUBE-EXTERNAL-IP'], ['127.0.0.1,tcp:80', '50.60.70.81,tcp:80']);
    assert.equal(sets['KUBE-EXTERNAL-IP-LOCAL'], undefined);
  });

  test('IPVS-1 external policy Local: the set for it, and the local endpoint', () => {
    const { sets, servers } = planned([
      service('s', { type: 'NodePort', externalIPs: ['50.60.70.81'], externalTrafficPolicy: 'Local' }),
      slice('s-1', [{ ip: '10.180.0.1', ...LOCAL }, '10.180.1.1']),
    ]);
    assert.deepEqual(summary({ servers }), ['-t 10.96.0.1:80 2', '-t 50.60.70.81:80 1']);
    assert.deepEqual(sets['KUBE-EXTERNAL-IP-LOCAL'], ['50.60.70.81,tcp:80']);
    assert.equal(sets['KUBE-EXTERNAL-IP'], undefined);
  });

  test('IPVS-14 external policy Local without local endpoints forwards to those elsewhere', () => {
    const { servers } = planned([
      service('s', { type: 'NodePort', externalIPs: ['50.60.70.81'], externalTrafficPolicy: 'Local' }),
      slice('s-1', ['10.180.1.1']),
    ]);
    assert.deepEqual(summary({ servers }), ['-t 10.96.0.1:80 1', '-t 50.60.70.81:80 1']);
  });

  test('IPVS-1 a load balancer’s address is served unless its mode is Proxy', () => {
    const lb = (ipMode?: string) =>
      service('s', { type: 'LoadBalancer', ingress: [{ ip: '1.2.3.4', ...(ipMode ? { ipMode } : {}) }] });
    const served = (ipMode?: string) => summary(planned([lb(ipMode)])).includes('-t 1.2.3.4:80 0');
    assert.deepEqual([served('Proxy'), served('VIP'), served()], [false, true, true]);
  });

  test('IPVS-16 source ranges: what may pass, and whether the node itself may', () => {
    const lb = (ranges: string[]) =>
      planned([
        service('s', { type: 'LoadBalancer', ingress: [{ ip: '1.2.3.4' }], loadBalancerSourceRanges: ranges }),
        slice('s-1', ['10.180.0.1']),
      ]);
    const outside = lb(['10.0.0.0/8', '192.0.2.7/32']);
    assert.deepEqual(outside.sets['KUBE-LOAD-BALANCER-FW'], ['1.2.3.4,tcp:80']);
    assert.deepEqual(outside.sets['KUBE-LOAD-BALANCER-SOURCE-CIDR'], [
      '1.2.3.4,tcp:80,10.0.0.0/8',
      '1.2.3.4,tcp:80,192.0.2.7',
    ]);
    assert.equal(outside.sets['KUBE-LOAD-BALANCER-SOURCE-IP'], undefined);
    assert.ok(
      outside.rules.includes(
        '-A KUBE-IPVS-OUT-FILTER -s 1.2.3.4 -m ipvs --vaddr 1.2.3.4 --vproto tcp --vport 80 -j DROP',
      ),
    );
    const inside = lb(['192.168.0.0/24']);
    assert.deepEqual(inside.sets['KUBE-LOAD-BALANCER-SOURCE-IP'], ['1.2.3.4,tcp:80,1.2.3.4']);
    assert.ok(!inside.rules.some(rule => rule.includes('KUBE-IPVS-OUT-FILTER -s')));
  });

  test('IPVS-4 an external address that another link has is not given to kube-ipvs0; a cluster IP always is', () => {
    const { addresses, sets } = planned(
      [service('s', { clusterIP: '10.96.0.9', externalIPs: ['192.168.0.2', '50.60.70.81'] })],
      { nodeIPs: ['192.168.0.2', '10.96.0.9'] },
    );
    assert.deepEqual(addresses, ['10.96.0.9', '50.60.70.81']);
    assert.deepEqual(sets['KUBE-IPVS-IPS'], addresses);
  });

  test('IPVS-1 only a load balancer with external policy Local has a health check port', () => {
    const lb = { type: 'LoadBalancer', ingress: [{ ip: '1.2.3.4' }], healthCheckNodePort: 30000 };
    assert.deepEqual(
      planned([service('s', { ...lb, externalTrafficPolicy: 'Local' })]).sets['KUBE-HEALTH-CHECK-NODE-PORT'],
      ['30000'],
    );
    assert.equal(planned([service('s', lb)]).sets['KUBE-HEALTH-CHECK-NODE-PORT'], undefined);
  });
});

test('IPVS-16 a range of all addresses, which ipset does not take, is two halves', () => {
  const halves = (family: Family, clusterIP: string, ip: string) => {
    const model = new Model({ family, nodeName: 'node-a', startedAt: 0, report: () => {} });
    model.setService(service('s', { clusterIP, type: 'LoadBalancer', ingress: [{ ip }] }));
    const planner = new Planner(model, {
      node: { name: 'node-a', zone: '' },
      nodeIP: '192.168.0.2' as Ip,
      localDetector: undefined,
      masqueradeAll: false,
      allowExternalIPs: true,
    });
    const [plan] = planner.update(model.take()).added;
    assert.ok(plan);
    const sourceRanges = [{ address: (family === 'IPv4' ? '0.0.0.0' : '::') as Ip, prefix: 0 }];
    const frontends = plan.frontends.map(frontend => ({ ...frontend, firewall: { sourceRanges, includesNode: true } }));
    const settings = { nodePortAddresses: parseNodePortAddresses(family, []), nodePortIPs: [] };
    const context = renderContext({ family, scheduler: 'rr', settings, nodeIPs: [] });
    const { elements } = render(context, { ...plan, frontends: frontends.slice(1) });
    return elements.filter(({ set }) => set === 'loadBalancerSourceCIDR').map(({ element }) => printElement(element));
  };
  assert.deepEqual(halves('IPv4', '10.96.0.1', '1.2.3.4'), ['1.2.3.4,tcp:80,0.0.0.0/1', '1.2.3.4,tcp:80,128.0.0.0/1']);
  assert.deepEqual(halves('IPv6', 'fd00::1', '2001::1'), ['2001::1,tcp:80,::/1', '2001::1,tcp:80,8000::/1']);
});
