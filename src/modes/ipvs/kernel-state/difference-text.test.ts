import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planOf } from '../../../../test/support/plans.ts';
import { type Element, L4, printElement } from '../../../kernel/ipset/index.ts';
import type { Ip } from '../../../net/index.ts';
import type { KnownServer } from '../diff.ts';
import { SET_KEYS, type SetKey } from '../names.ts';
import { WantedObjects } from '../wanted/wanted-objects.ts';
import { differenceText, type PresentObjects } from './difference-text.ts';

const KEY = { kind: 'address', protocol: 'TCP', address: '10.96.0.1' as Ip, port: 80 } as const;
const PORT = { kind: 'hash:ip,port', ip: KEY.address, protocol: L4.TCP, port: 80 } as const;
const ADDRESS = { kind: 'hash:ip', ip: KEY.address } as const;

/** Wants one virtual server with the endpoint 10.244.1.1:8080. */
function wantedWeb(): WantedObjects {
  const plan = planOf('web', ['10.244.1.1']);
  const wanted = new WantedObjects();
  wanted.add('web', plan, {
    servers: [
      {
        id: '-t 10.96.0.1:80',
        kind: 'ClusterIP',
        service: { key: KEY, scheduler: 'rr' },
        endpoints: plan.endpoints.cluster,
        weights: undefined,
      },
    ],
    elements: [
      { set: 'clusterIP', element: PORT },
      { set: 'ipvsIPs', element: ADDRESS },
    ],
    drops: [],
  });
  return wanted;
}

function elements(...entries: readonly [SetKey, Element][]): PresentObjects['elements'] {
  const sets = new Map<SetKey, Map<string, Element>>(SET_KEYS.map(set => [set, new Map()]));
  for (const [set, element] of entries) sets.get(set)?.set(printElement(element), element);
  return sets;
}

function server(weight: number, ...ips: string[]): KnownServer {
  const destinations = ips.map(ip => [`${ip}:8080`, { address: ip as Ip, port: 8080, weight, isPlain: true }] as const);
  return { service: { key: KEY, scheduler: 'rr' }, destinations: new Map(destinations) };
}

const IN_SYNC: PresentObjects = {
  missingSets: [],
  hasLink: true,
  elements: elements(['clusterIP', PORT], ['ipvsIPs', ADDRESS]),
  addresses: new Set(['10.96.0.1']),
  servers: new Map([['-t 10.96.0.1:80', server(1, '10.244.1.1')]]),
};

test('IPVS-21 nothing is printed if the kernel has what is wanted', () => {
  assert.equal(differenceText('IPv4', wantedWeb(), IN_SYNC), '');
});

test('IPVS-21 on an empty machine everything is missing', () => {
  const empty = { missingSets: SET_KEYS, hasLink: false, elements: elements(), addresses: new Set<string>() };
  const lines = differenceText('IPv4', wantedWeb(), { ...empty, servers: new Map() }).split('\n');
  assert.equal(lines.filter(line => line.startsWith('create ')).length, 17);
  assert.deepEqual(
    lines.filter(line => !line.startsWith('create ')),
    [
      '# IPv4: ipset restore',
      'add KUBE-CLUSTER-IP 10.96.0.1,tcp:80',
      'add KUBE-IPVS-IPS 10.96.0.1',
      '# IPv4: ip -batch',
      'link add kube-ipvs0 txqueuelen 0 type dummy',
      'addr add 10.96.0.1/32 dev kube-ipvs0',
      '# IPv4: ipvsadm -R',
      '-A -t 10.96.0.1:80 -s rr',
      '-a -t 10.96.0.1:80 -r 10.244.1.1:8080 -m -w 1',
      '',
    ],
  );
});

test('IPVS-21 only what differs is printed, with deletions', () => {
  const text = differenceText('IPv4', wantedWeb(), {
    ...IN_SYNC,
    elements: elements(['clusterIP', { ...PORT, port: 81 }], ['clusterIP', PORT], ['ipvsIPs', ADDRESS]),
    addresses: new Set(['10.96.0.1', '10.96.0.9']),
    servers: new Map([
      ['-t 10.96.0.1:80', server(1, '10.244.1.1', '10.244.1.2')],
      ['-t 10.96.0.9:80', { ...server(1), service: { key: { ...KEY, address: '10.96.0.9' as Ip }, scheduler: 'rr' } }],
    ]),
  });
  assert.deepEqual(text.split('\n'), [
    '# IPv4: ipset restore',
    'del KUBE-CLUSTER-IP 10.96.0.1,tcp:81',
    '# IPv4: ip -batch',
    'addr del 10.96.0.9/32 dev kube-ipvs0',
    '# IPv4: ipvsadm -R',
    '-e -t 10.96.0.1:80 -r 10.244.1.2:8080 -m -w 0',
    '-D -t 10.96.0.9:80',
    '',
  ]);
});

test('IPVS-21 a real server that drains is no difference', () => {
  const draining = new Map([...server(1, '10.244.1.1').destinations, ...server(0, '10.244.1.2').destinations]);
  const servers = new Map([['-t 10.96.0.1:80', { ...server(1), destinations: draining }]]);
  assert.equal(differenceText('IPv4', wantedWeb(), { ...IN_SYNC, servers }), '');
});
