import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printElement } from '../../../kernel/ipset/index.ts';
import type { IpvsProtocol, ServiceKey } from '../../../kernel/ipvs/index.ts';
import { type Cidr, type Ip, parseCidr } from '../../../net/index.ts';
import type { KnownServer } from '../diff.ts';
import { isLeftOver, ownerOf } from './ownership.ts';

const key = (address: string, port: number, protocol: IpvsProtocol = 'TCP'): ServiceKey => ({
  kind: 'address',
  address: address as Ip,
  port,
  protocol,
});

/** `elements`: as `SET element`. `addresses`: of kube-ipvs0. `excluded`: a network. */
function owner(service: ServiceKey, elements: readonly string[], addresses: readonly string[] = [], excluded = '') {
  const cidrs = [parseCidr(excluded)].filter((cidr): cidr is Cidr => cidr !== undefined);
  const found = {
    hasElement: (set: string, element: Parameters<typeof printElement>[0]) =>
      elements.includes(`${set} ${printElement(element)}`),
    hasAddress: (ip: string) => addresses.includes(ip),
    isNodeIP: (ip: string) => ip === '192.168.0.2',
  };
  return ownerOf(service, found, cidrs);
}

test('IPVS-9 a virtual server is ours if kube-ipvs0 has its address, or if the sets have it', () => {
  assert.equal(owner(key('10.96.0.1', 80), [], ['10.96.0.1']), 'us');
  assert.equal(owner(key('10.96.0.1', 80), ['clusterIP 10.96.0.1,tcp:80']), 'us');
  assert.equal(owner(key('10.96.0.1', 80, 'UDP'), ['clusterIP 10.96.0.1,tcp:80']), 'others');
  assert.equal(owner(key('1.2.3.4', 80), ['externalIPLocal 1.2.3.4,tcp:80']), 'us');
  assert.equal(owner(key('192.168.0.9', 30080, 'SCTP'), ['nodePortSCTP 192.168.0.9,sctp:30080']), 'us');
  assert.equal(owner(key('192.168.0.2', 30080, 'SCTP'), ['nodePortSCTP 192.168.0.9,sctp:30080']), 'others');
});

test('IPVS-9 a virtual server at a node port is ours if the machine has the address; otherwise its real servers decide', () => {
  assert.equal(owner(key('192.168.0.2', 30080), ['nodePortTCP 30080']), 'us');
  assert.equal(owner(key('192.168.0.2', 30080, 'UDP'), ['nodePortTCP 30080']), 'others');
  assert.equal(owner(key('172.16.0.1', 30080), ['nodePortTCP 30080']), 'unclear');
  assert.equal(owner(key('172.16.0.1', 30081), ['nodePortTCP 30080']), 'others');
  assert.equal(owner(key('172.16.0.1', 30080), ['nodePortTCP 30080'], [], '172.16.0.0/16'), 'others');
});

test('IPVS-9 an unclear virtual server is ours if one of ours is alike and has all of its real servers', () => {
  const server = (at: ServiceKey, names: readonly string[], isPlain = true, scheduler = 'rr'): KnownServer => ({
    service: { key: at, scheduler },
    destinations: new Map(names.map(name => [name, { address: name as Ip, port: 80, weight: 1, isPlain }])),
  });
  const own = [server(key('10.96.0.1', 80), ['a', 'b']), server(key('10.96.0.2', 53, 'UDP'), ['c'])];
  const at = key('172.16.0.1', 30080);
  assert.equal(isLeftOver(server(at, ['a', 'b']), own), true);
  assert.equal(isLeftOver(server(at, ['b']), own), true, 'policy Local has only some');
  assert.equal(isLeftOver(server(at, []), own), false);
  assert.equal(isLeftOver(server(at, ['a', 'x']), own), false);
  assert.equal(isLeftOver(server(at, ['c']), own), false, 'another protocol');
  assert.equal(isLeftOver(server(at, ['a'], false), own), false);
  assert.equal(isLeftOver(server(at, ['a'], true, 'wlc'), own), false);
});

test('IPVS-9 other addresses, services by mark and excluded addresses are not ours', () => {
  assert.equal(owner(key('10.96.0.2', 80), ['clusterIP 10.96.0.1,tcp:80'], ['10.96.0.1']), 'others');
  assert.equal(owner({ kind: 'fwmark', family: 'IPv4', fwmark: 1 }, [], ['0.0.0.0']), 'others');
  assert.equal(owner(key('10.96.0.1', 80), [], ['10.96.0.1'], '10.96.0.0/24'), 'others');
  assert.equal(owner(key('fd00::1', 80), [], ['fd00::1'], '10.96.0.0/24'), 'us');
  assert.equal(owner(key('fd00::1', 80), [], ['fd00::1'], 'fd00::/64'), 'others');
});
