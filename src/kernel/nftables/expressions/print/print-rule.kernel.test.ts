import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedByNft, listedHere } from '../../../../../test/support/nft-listing.ts';
import { runNftScript } from '../../../../../test/support/run-in.ts';
import { NetworkNamespace } from '../../../netns.ts';
import type { NftFamily } from '../../family.ts';

/** Rules with their chain: `f` filters at prerouting, `i` filters at input, `d` does DNAT, `s` does SNAT. */
const IPV4 = `
f ip saddr 10.244.0.0/16 drop
f ip saddr 10.96.0.0/12 accept
f ip saddr != 10.244.0.0/14 return
f ip saddr 10.0.0.0/31
f ip saddr 0.0.0.0/0
f ip saddr & 0.0.255.255 == 0.0.1.2
f ip daddr 1.2.3.4 continue
f ip saddr 10.0.0.5-10.0.0.77
f ip saddr != 10.0.0.1-10.0.0.5
f ip ttl 64
f ip protocol tcp
f ip length > 100
f ip frag-off & 0x1fff != 0
f ip dscp 8
f ip dscp != 3
f ip version 4
f ip daddr set 1.2.3.4
f meta l4proto tcp
f meta l4proto != udp
f meta l4proto 132
f meta l4proto 200
f meta l4proto 6-17
f meta l4proto tcp counter
f tcp dport 80 jump r
f tcp dport != 80-90 goto r
f tcp dport { 80, 443 } accept
f tcp dport >= 1024
f tcp dport 80 tcp sport 5 ip protocol tcp
f tcp dport set 99
f tcp flags syn
f tcp flags == syn
f tcp flags ! syn
f tcp flags & (fin|syn|rst|ack) == syn
f tcp flags != syn / syn,ack
f th dport 53
f udp sport 53
f sctp dport 53
f icmp type echo-request
f ip protocol tcp tcp dport 80
f ip protocol tcp ip daddr 1.1.1.1 tcp dport 80
f meta l4proto udp th dport 53
f meta l4proto tcp ip daddr 1.2.3.4 tcp dport 80
f meta l4proto tcp ct state new tcp dport 80
f meta l4proto tcp meta mark set 5 tcp dport 80
f meta l4proto tcp counter tcp dport 80
f meta l4proto { tcp, udp } th dport 53
f meta l4proto . th dport { tcp . 80 }
f meta l4proto tcp ip daddr . tcp dport { 1.2.3.4 . 80 }
f iifname "cni0"
f iifname != "veth*"
f iifname "x\\*"
f oifname "eth0"
f iif "lo"
f iif != "lo"
f iifgroup 0
f iifname { "a", "b" }
f iifname . ip saddr { "a" . 10.0.0.1 }
f meta length > 1000
f meta skuid 0
f meta pkttype host
f meta protocol ip
f meta priority 0
f meta iiftype ether
f meta random 5
f meta cpu 1
f meta nftrace set 1
f meta priority set 1:2
f meta pkttype set host
f ether saddr 00:11:22:33:44:55
f meta mark 0x10
f meta mark != 0
f meta mark 1-5
f meta mark & 0xff == 0x10
f meta mark & 0xff < 0x10
f meta mark & 0x4000 != 0 meta mark set meta mark ^ 0x4000
f meta mark set meta mark | 0x4000
f meta mark set meta mark & 0xffffbfff
f meta mark set (meta mark & 0xffff0000) ^ 0x1234
f meta mark set meta mark and 0xfffffffe or 0x2
f meta mark set 7
f meta mark set ct mark
f meta mark set ct mark << 4
f meta mark set meta mark >> 8
f meta mark set ip saddr map @marks
f meta mark set symhash mod 8
f meta mark set jhash ip saddr mod 4
f meta mark set jhash ip saddr . ip daddr mod 4 seed 0xdeadbeef offset 3
f meta mark set numgen inc mod 7 offset 3
f ct mark set meta mark
f ct mark set 5
f ct mark set ct mark | 0x1
f ct mark & 0xff == 3
f ct state new
f ct state established,related accept
f ct state != new
f ct state ! new
f ct state new,untracked
f ct status dnat
f ct status dnat,snat
f ct status != dnat
f ct status & snat == snat
f ct direction reply
f ct original ip daddr 10.96.0.1
f ct original ip saddr 10.96.0.0/16
f ct reply ip saddr 10.0.0.1
f ct l3proto ipv4
f ct protocol tcp
f ct bytes > 1000
f ct original packets > 5
f ct zone 3
f ct expiration 5s
f ct helper "ftp"
f ct event set new,destroy
f fib daddr type local
f fib saddr type != local
f fib saddr . iif oif missing drop
f fib daddr . iif type local
f fib daddr oifname "lo"
f fib daddr . mark oif exists
f ip saddr @addresses
f ip saddr != @addresses drop
f ip saddr . ip daddr . meta l4proto . th dport @hairpins
f ct state new ip daddr . meta l4proto . th dport vmap @services
f ip saddr vmap { 10.0.0.1 : accept, 10.0.0.2 : drop }
f numgen random mod 2 vmap { 0 : goto r, 1 : accept }
f jhash ip saddr mod 2 vmap { 0 : goto r }
f update @affinity { ip saddr }
f update @affinity { ip saddr timeout 1h }
f add @affinity { ip saddr timeout 90s }
f delete @affinity { ip saddr }
f update @affinity { ip saddr & 255.255.255.0 }
f update @ports { ip saddr : tcp dport }
f update @ports { ip saddr timeout 30s : tcp dport }
f add @meters { ip saddr limit rate 10/second }
f add @meters { ip saddr counter } drop
f add @meters { ip saddr ct count over 5 } drop
f add @meters { ip saddr limit rate over 10/minute burst 3 packets counter } drop
f counter packets 5 bytes 99 accept
f counter name "drops"
f limit rate 10/second
f limit rate over 10/minute burst 7 packets drop
f limit rate 1 mbytes/second burst 20 kbytes
f limit rate 400 bytes/hour
f quota over 10 mbytes drop
f quota 500 bytes used 20 bytes
f ct count over 5 drop
f log
f log prefix "dropped: " level warn
f log level debug
f log prefix "x" group 5 snaplen 64 queue-threshold 3
f log flags all
f log flags tcp sequence,options flags ip options
f notrack
f socket transparent 1
f socket mark 5
i reject
i reject with icmp host-unreachable
i reject with icmp admin-prohibited
i tcp dport 80 reject with tcp reset
i meta l4proto tcp reject with tcp reset
i meta l4proto tcp reject
d meta l4proto tcp dnat ip addr . port to numgen random mod 2 map { 0 : 10.0.0.1 . 80, 1 : 10.0.0.2 . 81 }
d meta l4proto tcp dnat to 10.0.0.1:8080
d dnat to 10.0.0.1
d dnat to 10.0.0.1-10.0.0.9
d tcp dport 80 dnat to 10.0.0.1:8080-8090
d dnat to 10.0.0.1 random,persistent
d tcp dport 80 dnat to :8080
d dnat to tcp dport map @targets
d tcp dport 80 redirect to :8080
d redirect
d tcp dport 80 redirect to :8080-8090 fully-random
s snat to 10.0.0.9 fully-random
s snat to 10.0.0.1-10.0.0.5 random
s masquerade
s masquerade random,fully-random,persistent
s meta l4proto tcp masquerade to :1024-2048`;

const IPV6 = `
f ip6 saddr fd00:10:244::/56 drop
f ip6 daddr != ::1 drop
f ip6 saddr fd00:10:96::/112
f ip6 saddr fd00::/61
f ip6 saddr 1::/127
f ip6 saddr ::ffff:1.2.3.4
f ip6 saddr ::1.2.3.4
f ip6 saddr ::1:0
f ip6 saddr 1:0:0:2:0:0:0:3
f ip6 saddr 1:0:2:3:4:5:6:7
f ip6 saddr fd00::1-fd00::5
f ip6 saddr & ffff:: == 1::
f ip6 saddr @addresses
f ip6 nexthdr tcp
f ip6 nexthdr tcp tcp dport 80
f ip6 hoplimit 5
f ip6 dscp 8
f ip6 flowlabel 5
f icmpv6 type nd-neighbor-solicit
f ip6 saddr . tcp dport { fd00::1 . 80 }
f ip6 daddr . meta l4proto . th dport vmap @services
f ip6 saddr . ip6 daddr . meta l4proto . th dport @hairpins
f ct original ip6 daddr fd00::1
f ct original ip6 saddr fd00::/64
f fib saddr type local
f meta mark set jhash ip6 saddr mod 4
f update @affinity { ip6 saddr }
f update @ports { ip6 saddr : tcp dport }
i reject
i reject with icmpv6 admin-prohibited
i reject with icmpv6 no-route
i reject with icmpv6 policy-fail
i meta l4proto tcp reject with tcp reset
d meta l4proto tcp dnat ip6 addr . port to numgen random mod 2 map { 0 : fd00::1 . 80, 1 : fd00::2 . 80 }
d meta l4proto tcp dnat to [fd00::5]:50051
d dnat to fd00::5
d meta l4proto tcp dnat to fd00::5-fd00::9
s masquerade fully-random`;

const INET = `
f ip saddr 1.2.3.4
f ip6 saddr fd00::1
f meta nfproto ipv4
f meta nfproto ipv6 tcp dport 80
f tcp dport 80
f ip saddr 1.2.3.4 tcp dport 80
f ip daddr . meta l4proto . th dport vmap @services
f ip daddr . tcp dport { 1.2.3.4 . 80 }
f icmp type echo-request
f icmpv6 type echo-request
f meta l4proto icmp icmp type echo-request
f ct original ip daddr 10.96.0.1
f meta protocol ip
i reject
i reject with icmpx host-unreachable
i reject with icmpx no-route
i reject with icmp host-unreachable
i reject with icmpv6 no-route
i reject with tcp reset
d dnat ip to 10.0.0.1
d tcp dport 80 dnat ip to 10.0.0.1:80
d tcp dport 80 dnat ip6 to [fd00::1]:80
d tcp dport 80 dnat to :80
d meta l4proto tcp dnat ip addr . port to numgen random mod 2 map { 0 : 10.0.0.1 . 80, 1 : 10.0.0.2 . 80 }
s masquerade`;

for (const [family, rules] of [
  ['ip', IPV4],
  ['ip6', IPV6],
  ['inet', INET],
] as const) {
  test(`KERNEL-11 prints rules of ${family} tables as nft does`, () => {
    const namespace = NetworkNamespace.create();
    try {
      runNftScript(namespace, scriptOf(family, rules));
      const expected = listedByNft(namespace, family, 't');
      assert.equal(expected.length, rules.trim().split('\n').length);
      assert.deepEqual(listedHere(namespace, family, 't'), expected);
    } finally {
      namespace.close();
    }
  });
}

function scriptOf(family: NftFamily, rules: string): string {
  const address = family === 'ip6' ? 'ipv6_addr' : 'ipv4_addr';
  const lines = rules.trim().split('\n');
  return `table ${family} t {
    counter drops { }
    set addresses { type ${address}; }
    set affinity { type ${address}; flags dynamic,timeout; timeout 3h; }
    set meters { type ${address}; flags dynamic; size 100; }
    set hairpins { type ${address} . ${address} . inet_proto . inet_service; }
    map ports { type ${address} : inet_service; flags dynamic,timeout; timeout 1m; }
    map targets { type inet_service : ${address}; }
    map marks { type ${address} : mark; }
    map services { type ${address} . inet_proto . inet_service : verdict; }
    chain r { }
    chain f { type filter hook prerouting priority filter; }
    chain i { type filter hook input priority filter; }
    chain d { type nat hook prerouting priority dstnat; }
    chain s { type nat hook postrouting priority srcnat; }
  }
  ${lines.map(line => `add rule ${family} t ${line}`).join('\n')}\n`;
}
