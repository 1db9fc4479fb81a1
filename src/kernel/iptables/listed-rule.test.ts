import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedRule } from './listed-rule.ts';

/** A rule as iptables-restore reads it, and as iptables-save 1.8.9 lists it. */
const RULES: readonly (readonly [family: 'ip' | 'ip6', written: string, listed: string])[] = [
  [
    'ip',
    '-m comment --comment "default/web cluster IP" -m tcp -p tcp -d 10.96.0.1 --dport 80 -j KUBE-SVC-X',
    '-d 10.96.0.1/32 -p tcp -m comment --comment "default/web cluster IP" -m tcp --dport 80 -j KUBE-SVC-X',
  ],
  ['ip6', '-j KUBE-MARK-MASQ ! -s fd00:0:0::1/64', '! -s fd00::/64 -j KUBE-MARK-MASQ'],
  ['ip', '-s 0.0.0.0/0 -j KUBE-EXT-X', '-j KUBE-EXT-X'],
  ['ip', '-m mark ! --mark 0x00004000/0x00004000 -j RETURN', '-m mark ! --mark 0x4000/0x4000 -j RETURN'],
  ['ip', '-j MARK --xor-mark 0x00004000', '-j MARK --set-xmark 0x4000/0x0'],
  ['ip', '-j MARK --or-mark 0x00004000', '-j MARK --set-xmark 0x4000/0x4000'],
  ['ip', '-j REJECT', '-j REJECT --reject-with icmp-port-unreachable'],
  ['ip6', '-j REJECT', '-j REJECT --reject-with icmp6-port-unreachable'],
  ['ip', '-j REJECT --reject-with tcp-reset', '-j REJECT --reject-with tcp-reset'],
  [
    'ip',
    '-m statistic --mode random --probability 0.3333333333 -j KUBE-SEP-X',
    '-m statistic --mode random --probability 0.33333333349 -j KUBE-SEP-X',
  ],
  [
    'ip',
    '-m recent --name KUBE-SEP-X --rcheck --seconds 10800 --reap -j KUBE-SEP-X',
    '-m recent --rcheck --seconds 10800 --reap --name KUBE-SEP-X --mask 255.255.255.255 --rsource -j KUBE-SEP-X',
  ],
  [
    'ip6',
    '-m recent --name KUBE-SEP-X --set',
    '-m recent --set --name KUBE-SEP-X --mask ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff --rsource',
  ],
  [
    'ip',
    '-s 203.0.113.1 -m ipvs --vaddr 203.0.113.1 --vproto tcp --vport 80 -j DROP',
    '-s 203.0.113.1/32 -m ipvs --vproto 6 --vaddr 203.0.113.1 --vport 80 -j DROP',
  ],
  [
    'ip',
    '-m conntrack ! --ctstate ESTABLISHED,RELATED,DNAT -j DROP',
    '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
  ],
  ['ip', `-m comment --comment "it's \\"x\\"" -j ACCEPT`, `-m comment --comment "it\\'s \\"x\\"" -j ACCEPT`],
  ['ip', '-m comment --comment plain -g OTHER', '-m comment --comment plain -g OTHER'],
];

test('READ-8 a rule in the form of iptables-restore is rewritten in the form of iptables-save', () => {
  for (const [family, written, listed] of RULES) assert.equal(listedRule(family, written), listed);
});

test('READ-8 a rule in the form of iptables-save stays as it is', () => {
  for (const [family, , listed] of RULES) assert.equal(listedRule(family, listed), listed);
});
