import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plansOf } from '../../../test/support/iptables-plans.ts';
import { service } from '../../../test/support/objects.ts';
import type { Endpoint } from '../../model/index.ts';
import { chainsOf, isOwnChain } from './names.ts';

function chains(name: string, port: string, protocol: 'TCP' | 'UDP' = 'TCP') {
  const [plan] = plansOf({ services: [service(name, { ports: [{ name: port, protocol }] })] });
  assert.ok(plan);
  return chainsOf(plan);
}

const SERVICE_PORTS: readonly (readonly [string, string, 'TCP' | 'UDP', string])[] = [
  ['ns1/svc1', 'p80', 'TCP', 'XPGD46QRK7WJZT7O'],
  ['ns2/svc2', 'p80', 'TCP', 'GNZBNJ2PO5MGZ6GT'],
  ['ns2/svc2', 'p8080', 'TCP', '2VJB64SDSIJUP5T6'],
  ['ns4/svc4', 'p8082', 'TCP', 'EBDQOQU5SJFXRIL3'],
  ['default/kubernetes', 'https', 'TCP', 'NPX46M4PTMTKRN6Y'],
  ['kube-system/kube-dns', 'dns', 'UDP', 'TCOU7JCQXEZGVUNU'],
  ['kube-system/kube-dns', 'dns-tcp', 'TCP', 'ERIFXISQEP7F7OF4'],
  ['shop/cart', '', 'TCP', 'N5W5PH5NLY2BP4HG'],
];

for (const [name, port, protocol, hash] of SERVICE_PORTS) {
  test(`IPT-1 the chains of ${name} ${port} ${protocol} end in ${hash}`, () => {
    const { svc, svl, ext, fw } = chains(name, port, protocol);
    assert.deepEqual(
      [svc, svl, ext, fw],
      ['SVC', 'SVL', 'EXT', 'FW'].map(kind => `KUBE-${kind}-${hash}`),
    );
  });
}

const ENDPOINTS: readonly (readonly [string, string, string, string])[] = [
  ['ns1/svc1', 'p80', '10.180.0.1:80', 'SXIVWICOYRO3J4NJ'],
  ['ns4/svc4', 'p80', '10.180.0.5:80', 'C6EBXVWJJZMIWKLZ'],
  ['ns2/svc2', 'p8080', '10.0.2.1:8080', 'UHEGFW77JX3KXTOV'],
  ['ns3/svc3', 'p8081', '203.0.113.4:8081', 'RUVVH7YV3PHQBDOS'],
  ['shop/cart', '', '[fd00:10:244:1::a]:9090', 'Z37HWJ4SLY7AFB5V'],
];

for (const [name, port, text, hash] of ENDPOINTS) {
  test(`IPT-1 the chain of endpoint ${text} of ${name} is KUBE-SEP-${hash}`, () => {
    const endpoint = { text } as Endpoint;
    const { sep } = chains(name, port);
    assert.deepEqual([sep(endpoint), sep(endpoint)], [`KUBE-SEP-${hash}`, `KUBE-SEP-${hash}`]);
  });
}

test('IPT-3 a chain is ours if its name has one of our prefixes', () => {
  const names = ['KUBE-SVC-X', 'KUBE-SVL-X', 'KUBE-EXT-X', 'KUBE-FW-X', 'KUBE-SEP-LOOKALIKE', 'KUBE-SERVICES', 'CNI-X'];
  assert.deepEqual(names.map(isOwnChain), [true, true, true, true, true, false, false]);
});
