import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PortKernelDetail } from '../../../../../inspect/index.ts';
import { kernelCommands } from './kernel-commands.ts';

type Triple = readonly [kind: string, place: string, wanted: string];

function commandsFor(entries: readonly Triple[], family: 'IPv4' | 'IPv6' = 'IPv4') {
  const port: PortKernelDetail = {
    name: 'http',
    protocol: 'TCP',
    family,
    entries: entries.map(([kind, place, wanted]) => ({ kind, place, wanted, found: wanted, state: 'equal' })),
    affinity: [],
  };
  return kernelCommands({ ports: [port] }, 'shop/web');
}

describe('commands that list the entries of the kernel', () => {
  test('PAGE-73 nft gets the elements of each map, and lists the chains of the Service only', () => {
    const command = commandsFor([
      ['element', 'map ip kube-proxy service-numbers', '10.96.0.10 . tcp . 80 comment "shop/web" : 0x10003000'],
      ['element', 'map ip kube-proxy cluster-endpoints', '10.96.0.10 . tcp . 80 . 0x00000000 : 10.244.1.2 . 8080'],
      ['element', 'map ip kube-proxy cluster-endpoints', '10.96.0.10 . tcp . 80 . 0x00000001 : 10.244.2.2 . 8080'],
      ['element', 'set ip kube-proxy cluster-ips', '10.96.0.10'],
      ['rule', 'chain ip kube-proxy services', 'ip daddr . meta l4proto . th dport vmap @service-ips'],
      ['rule', 'chain ip kube-proxy firewall-PFISGYVC-shop/web/tcp/http', 'drop'],
      ['table', 'ruleset', 'table ip kube-proxy'],
    ]);
    assert.equal(command?.name, 'nft');
    assert.deepEqual(command?.text.split('\n'), [
      "nft get element ip kube-proxy service-numbers '{ 10.96.0.10 . tcp . 80 }'",
      "nft get element ip kube-proxy cluster-endpoints '{ 10.96.0.10 . tcp . 80 . 0x00000000, 10.96.0.10 . tcp . 80 . 0x00000001 }'",
      "nft get element ip kube-proxy cluster-ips '{ 10.96.0.10 }'",
      'nft list chain ip kube-proxy firewall-PFISGYVC-shop/web/tcp/http',
    ]);
  });

  test('PAGE-73 very many elements are listed with their map', () => {
    const command = commandsFor(
      Array.from({ length: 100 }, (_, i) => [
        'element',
        'map ip6 kube-proxy cluster-endpoints',
        `fd00::1 . tcp . 80 . ${i} : x`,
      ]),
    );
    assert.equal(command?.text, 'nft list map ip6 kube-proxy cluster-endpoints');
  });

  test('PAGE-73 other modes have the commands of their own tools', () => {
    const iptables = commandsFor(
      [
        ['chain', 'table nat', 'KUBE-SVC-ABC'],
        ['rule', 'chain nat KUBE-SERVICES', '-A KUBE-SERVICES …'],
        ['rule', 'chain nat KUBE-SVC-ABC', '-A KUBE-SVC-ABC …'],
        ['rule', 'chain nat KUBE-SVC-ABC', '-A KUBE-SVC-ABC … second'],
      ],
      'IPv6',
    );
    assert.equal(iptables?.text, 'ip6tables -t nat -S KUBE-SVC-ABC');
    const ipvs = commandsFor([
      ['virtual server', 'ipvs', '-A -t 10.96.0.10:80 -s rr'],
      ['real server', 'ipvs', '-a -t 10.96.0.10:80 -r 10.244.1.2:8080 -m -w 1'],
      ['set entry', 'set KUBE-CLUSTER-IP', 'add KUBE-CLUSTER-IP 10.96.0.10,tcp:80'],
    ]);
    assert.deepEqual(ipvs?.text.split('\n'), ['ipvsadm -L -n -t 10.96.0.10:80', 'ipset list KUBE-CLUSTER-IP']);
    assert.equal(commandsFor([['listener', 'this process, for policy Cluster', 'tcp 1234']]), undefined);
  });
});
