import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printCreate } from '../../kernel/ipset/index.ts';
import { ipSet, SET_KEYS, setName } from './names.ts';

test('IPVS-19 sets of IPv6 have names of their own, not longer than the kernel allows', () => {
  const names = SET_KEYS.map(key => setName(key, 'IPv6'));
  assert.ok(names.every(name => name.startsWith('KUBE-6-') && name.length <= 31));
  assert.equal(new Set(names).size, 17);
  assert.equal(setName('loadBalancerSourceCIDR', 'IPv6'), 'KUBE-6-LOAD-BALANCER-SOURCE-CID');
  assert.equal(setName('nodePortLocalSCTP', 'IPv6'), 'KUBE-6-NODE-PORT-LOCAL-SCTP-HAS');
});

test('IPVS-19 sets are created as upstream creates them', () => {
  assert.equal(
    printCreate(ipSet('clusterIP', 'IPv4')),
    'create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536',
  );
  assert.equal(
    printCreate(ipSet('loadBalancerSourceCIDR', 'IPv6')),
    'create KUBE-6-LOAD-BALANCER-SOURCE-CID hash:ip,port,net family inet6 hashsize 1024 maxelem 65536',
  );
  assert.equal(printCreate(ipSet('nodePortTCP', 'IPv6')), 'create KUBE-6-NODE-PORT-TCP bitmap:port range 0-65535');
});
