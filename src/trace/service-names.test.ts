import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NftMap } from '../kernel/nftables/index.ts';
import { servicesOfComment, servicesOfRule } from './service-names.ts';

const MAP: NftMap = { kind: 'map', name: 'service-numbers', type: ['inet_service'], data: ['mark'] };

function matched(comment: string) {
  return [{ set: MAP, element: { kind: 'element', key: Buffer.of(0, 80), comment } as const }];
}

test('TRACE-5 the comment of an element names the Service, in the table of the proxy only', () => {
  assert.deepEqual(servicesOfRule('kube-proxy', 'services', matched('shop/web:http')), ['shop/web:http']);
  assert.deepEqual(servicesOfRule('kube-proxy', 'services', matched('Active ClusterIPs')), []);
  assert.deepEqual(servicesOfRule('other', 'services', matched('shop/web:http')), []);
});

test('TRACE-5 chains of a service port name it, with and without the name of a port', () => {
  assert.deepEqual(servicesOfRule('kube-proxy', 'service-ULMVA6XW-ns1/svc1/tcp/p80', []), ['ns1/svc1:p80']);
  assert.deepEqual(servicesOfRule('kube-proxy', 'firewall-I2OH7IZU-default/lbsr/tcp/', []), ['default/lbsr']);
  const endpoint = 'endpoint-5OJB2KTY-ns1/svc1/tcp/p80__10.180.0.1/80';
  assert.deepEqual(servicesOfRule('kube-proxy', endpoint, []), ['ns1/svc1:p80']);
  assert.deepEqual(servicesOfRule('kube-proxy', 'masquerading', []), []);
});

test('TRACE-5 comments of iptables rules name the Service, in chains of the proxy only', () => {
  assert.deepEqual(servicesOfComment('KUBE-SERVICES', 'shop/web:http cluster IP'), ['shop/web:http']);
  assert.deepEqual(servicesOfComment('KUBE-SEP-X', 'shop/web'), ['shop/web']);
  assert.deepEqual(servicesOfComment('KUBE-SERVICES', 'kubernetes service portals'), []);
  assert.deepEqual(servicesOfComment('FORWARD', 'shop/web:http cluster IP'), []);
});
