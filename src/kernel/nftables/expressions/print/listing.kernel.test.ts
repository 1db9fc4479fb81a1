import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedByNft, listedHere } from '../../../../../test/support/nft-listing.ts';
import { runNftScript } from '../../../../../test/support/run-in.ts';
import { NetworkNamespace } from '../../../netns.ts';

/** The table of a whole service proxy as other tools write it: a chain and anonymous maps for every service. */
const IPV4 = `table ip proxy {
  set hairpin-connections { type ipv4_addr . ipv4_addr . inet_proto . inet_service; }
  set cluster-ips { type ipv4_addr; elements = { 10.96.10.21 } }
  set nodeport-ips { type ipv4_addr; elements = { 192.168.0.2 } }
  map no-endpoint-services { type ipv4_addr . inet_proto . inet_service : verdict; }
  map no-endpoint-nodeports { type inet_proto . inet_service : verdict; }
  map firewall-ips {
    type ipv4_addr . inet_proto . inet_service : verdict
    elements = { 203.0.113.10 . tcp . 443 : goto firewall-2ULBZPCO-demo/lb/tcp/https }
  }
  map service-ips {
    type ipv4_addr . inet_proto . inet_service : verdict
    elements = { 203.0.113.10 . tcp . 443 : goto external-2ULBZPCO-demo/lb/tcp/https }
  }
  map service-nodeports { type inet_proto . inet_service : verdict; }
  chain filter-prerouting-pre-dnat {
    type filter hook prerouting priority dstnat - 10; policy accept;
    ct state new jump firewall-check
  }
  chain filter-input {
    type filter hook input priority filter; policy accept;
    ct state new jump nodeport-endpoints-check
    ct state new jump service-endpoints-check
  }
  chain filter-forward {
    type filter hook forward priority filter; policy accept;
    ct state new jump service-endpoints-check
    ct state new jump cluster-ips-check
  }
  chain nat-prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    jump services
  }
  chain nat-postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    jump masquerading
  }
  chain nodeport-endpoints-check {
    ip daddr @nodeport-ips meta l4proto . th dport vmap @no-endpoint-nodeports
  }
  chain service-endpoints-check {
    ip daddr . meta l4proto . th dport vmap @no-endpoint-services
  }
  chain firewall-check {
    ip daddr . meta l4proto . th dport vmap @firewall-ips
  }
  chain services {
    ip daddr @cluster-ips ip saddr != 10.244.0.0/16 mark set mark or 0x4000 comment "masquerade clusterIP traffic from outside cluster"
    ip daddr . meta l4proto . th dport vmap @service-ips
    ip daddr @nodeport-ips meta l4proto . th dport vmap @service-nodeports
    fib daddr type local ip daddr != 127.0.0.0/8 meta l4proto . th dport vmap @service-nodeports
  }
  chain masquerading {
    mark and 0x4000 != 0 mark set mark xor 0x4000 masquerade fully-random
    ct status dnat ip saddr . ip daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random
  }
  chain cluster-ips-check {
    ip daddr @cluster-ips reject comment "Reject traffic to invalid ports of ClusterIPs"
    ip daddr { 10.96.0.0/12 } drop comment "Drop traffic to unallocated ClusterIPs"
  }
  chain reject-chain {
    comment "helper for @no-endpoint-services / @no-endpoint-nodeports"
    reject
  }
  chain service-AXK6CI2C-demo/web/tcp/http {
    meta l4proto tcp dnat ip addr . port to numgen random mod 3 map { 0 : 10.244.1.5 . 8080, 1 : 10.244.2.7 . 8080, 2 : 10.244.3.9 . 8080 }
  }
  chain service-2ULBZPCO-demo/lb/tcp/https {
    meta l4proto tcp dnat ip addr . port to numgen random mod 2 map { 0 : 10.244.1.6 . 8443, 1 : 10.244.2.8 . 8443 }
  }
  chain local-2ULBZPCO-demo/lb/tcp/https {
    meta l4proto tcp dnat ip addr . port to numgen random mod 1 map { 0 : 10.244.1.6 . 8443 }
  }
  chain external-2ULBZPCO-demo/lb/tcp/https {
    ip saddr 10.244.0.0/16 goto service-2ULBZPCO-demo/lb/tcp/https comment "short-circuit pod traffic"
    iifname veth* goto service-2ULBZPCO-demo/lb/tcp/https comment "short-circuit pod traffic"
    fib saddr type local mark set mark or 0x4000 comment "masquerade local traffic"
    fib saddr type local goto service-2ULBZPCO-demo/lb/tcp/https comment "short-circuit local traffic"
    goto local-2ULBZPCO-demo/lb/tcp/https
  }
  chain firewall-2ULBZPCO-demo/lb/tcp/https {
    ip saddr != { 198.51.100.0/24, 192.168.0.0/24, 203.0.113.10 } drop
  }
}
`;

const IPV6 = `table ip6 proxy {
  set hairpin-connections { type ipv6_addr . ipv6_addr . inet_proto . inet_service; }
  set cluster-ips { type ipv6_addr; elements = { fd00:10:96::50 } }
  map no-endpoint-nodeports { type inet_proto . inet_service : verdict; }
  map service-ips { type ipv6_addr . inet_proto . inet_service : verdict; }
  map service-nodeports { type inet_proto . inet_service : verdict; }
  set affinity-7VBLPJWF-demo/sticky/tcp/grpc__fd00.10.244.1..5/50051 {
    type ipv6_addr; flags dynamic,timeout; timeout 10800s;
  }
  set affinity-7A2Y7TSP-demo/sticky/tcp/grpc__fd00.10.244.2..7/50051 {
    type ipv6_addr; flags dynamic,timeout; timeout 10800s;
  }
  chain nat-prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    jump services
  }
  chain nat-postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    jump masquerading
  }
  chain nodeport-endpoints-check {
    ip6 daddr != ::1 meta l4proto . th dport vmap @no-endpoint-nodeports
  }
  chain services {
    ip6 daddr @cluster-ips ip6 saddr != fd00:10:244::/56 mark set mark or 0x4000 comment "masquerade clusterIP traffic from outside cluster"
    ip6 daddr . meta l4proto . th dport vmap @service-ips
    fib daddr type local ip6 daddr != ::1 meta l4proto . th dport vmap @service-nodeports
  }
  chain masquerading {
    mark and 0x4000 != 0 mark set mark xor 0x4000 masquerade fully-random
    ct status dnat ip6 saddr . ip6 daddr . meta l4proto . th dport @hairpin-connections masquerade fully-random
  }
  chain cluster-ips-check {
    ip6 daddr @cluster-ips reject comment "Reject traffic to invalid ports of ClusterIPs"
    ip6 daddr { fd00:10:96::/112 } drop comment "Drop traffic to unallocated ClusterIPs"
  }
  chain endpoint-7VBLPJWF-demo/sticky/tcp/grpc__fd00.10.244.1..5/50051 {
    update @affinity-7VBLPJWF-demo/sticky/tcp/grpc__fd00.10.244.1..5/50051 { ip6 saddr }
    meta l4proto tcp dnat to [fd00:10:244:1::5]:50051
  }
  chain endpoint-7A2Y7TSP-demo/sticky/tcp/grpc__fd00.10.244.2..7/50051 {
    update @affinity-7A2Y7TSP-demo/sticky/tcp/grpc__fd00.10.244.2..7/50051 { ip6 saddr }
    meta l4proto tcp dnat to [fd00:10:244:2::7]:50051
  }
  chain service-J5EKKQZC-demo/sticky/tcp/grpc {
    ip6 saddr @affinity-7VBLPJWF-demo/sticky/tcp/grpc__fd00.10.244.1..5/50051 goto endpoint-7VBLPJWF-demo/sticky/tcp/grpc__fd00.10.244.1..5/50051
    ip6 saddr @affinity-7A2Y7TSP-demo/sticky/tcp/grpc__fd00.10.244.2..7/50051 goto endpoint-7A2Y7TSP-demo/sticky/tcp/grpc__fd00.10.244.2..7/50051
    numgen random mod 2 vmap { 0 : goto endpoint-7VBLPJWF-demo/sticky/tcp/grpc__fd00.10.244.1..5/50051, 1 : goto endpoint-7A2Y7TSP-demo/sticky/tcp/grpc__fd00.10.244.2..7/50051 }
  }
}
`;

for (const [family, script, rules] of [
  ['ip', IPV4, 28],
  ['ip6', IPV6, 17],
] as const) {
  test(`KERNEL-11 prints the ${family} table of a service proxy as nft lists it`, () => {
    const namespace = NetworkNamespace.create();
    try {
      // A chain must exist before a verdict refers to it, and a table block does not guarantee that order.
      const chains = [...script.matchAll(/chain (\S+)/g)].map(([, name]) => `add chain ${family} proxy ${name}`);
      const baseless = chains.filter(line => !/ (filter|nat)-/.test(line));
      runNftScript(namespace, `add table ${family} proxy\n${baseless.join('\n')}\n${script}`);
      const expected = listedByNft(namespace, family, 'proxy');
      assert.equal(expected.length, rules);
      assert.deepEqual(listedHere(namespace, family, 'proxy').sort(), expected.sort());
    } finally {
      namespace.close();
    }
  });
}
