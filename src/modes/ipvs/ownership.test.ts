import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printElement } from '../../kernel/ipset/index.ts';
import type { IpvsProtocol, ServiceKey } from '../../kernel/ipvs/index.ts';
import { type Cidr, type Ip, parseCidr } from '../../net/index.ts';
import { isOwn } from './ownership.ts';

const key = (address: string, port: number, protocol: IpvsProtocol = 'TCP'): ServiceKey => ({
  kind: 'address',
  address: address as Ip,
  port,
  protocol,
});

/** `SET element`, and addresses of kube-ipvs0. */
function owns(
  service: ServiceKey,
  elements: readonly string[],
  addresses: readonly string[] = [],
  excluded = '',
): boolean {
  const cidrs = [parseCidr(excluded)].filter((cidr): cidr is Cidr => cidr !== undefined);
  const found = {
    hasElement: (set: string, element: Parameters<typeof printElement>[0]) =>
      elements.includes(`${set} ${printElement(element)}`),
    hasAddress: (ip: string) => addresses.includes(ip),
  };
  return isOwn(service, found, cidrs);
}

test('IPVS-9 ours is what is at an address of kube-ipvs0, or in the sets', () => {
  assert.equal(owns(key('10.96.0.1', 80), [], ['10.96.0.1']), true);
  assert.equal(owns(key('10.96.0.1', 80), ['clusterIP 10.96.0.1,tcp:80']), true);
  assert.equal(owns(key('10.96.0.1', 80, 'UDP'), ['clusterIP 10.96.0.1,tcp:80']), false);
  assert.equal(owns(key('1.2.3.4', 80), ['externalIPLocal 1.2.3.4,tcp:80']), true);
  assert.equal(owns(key('192.168.0.2', 30080), ['nodePortTCP 30080']), true);
  assert.equal(owns(key('192.168.0.2', 30080, 'UDP'), ['nodePortTCP 30080']), false);
  assert.equal(owns(key('192.168.0.2', 30080, 'SCTP'), ['nodePortSCTP 192.168.0.2,sctp:30080']), true);
});

test('IPVS-9 all else is not: other addresses, services by mark, and what is excluded', () => {
  assert.equal(owns(key('10.96.0.2', 80), ['clusterIP 10.96.0.1,tcp:80'], ['10.96.0.1']), false);
  assert.equal(owns({ kind: 'fwmark', family: 'IPv4', fwmark: 1 }, [], ['0.0.0.0']), false);
  assert.equal(owns(key('10.96.0.1', 80), [], ['10.96.0.1'], '10.96.0.0/24'), false);
  assert.equal(owns(key('fd00::1', 80), [], ['fd00::1'], '10.96.0.0/24'), true);
  assert.equal(owns(key('fd00::1', 80), [], ['fd00::1'], 'fd00::/64'), false);
});
