import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addRules, findIn, lines, onNode } from '../../../test/support/machine.ts';
import { runIn } from '../../../test/support/run-in.ts';

test('MACHINE-10 a clean machine gives no findings', () =>
  onNode(async node => {
    const found = await findIn(node, {});
    assert.deepEqual(found, { findings: [], unread: [], incomplete: undefined });
  }));

test('MACHINE-11 a rule that drops the endpoint after the translation is found with its place', () =>
  onNode(async node => {
    addRules(
      node,
      `table inet guard {
        chain gate {
          type filter hook forward priority 5; policy accept;
          tcp dport 80 drop
          ip daddr 10.244.1.9 tcp dport 8080 drop comment "blocked by hand"
        }
      }`,
    );
    const { findings } = await findIn(node, {});
    assert.deepEqual(findings, [
      {
        kind: 'rule',
        tool: 'nft',
        family: 'inet',
        table: 'guard',
        hook: 'forward',
        priority: 5,
        chain: 'gate',
        verdict: 'drop',
        text: 'ip daddr 10.244.1.9 tcp dport 8080 drop',
        comment: 'blocked by hand',
        certainty: 'drops',
        unknown: [],
      },
    ]);
  }));

test('MACHINE-11 rules of prerouting see the called address before the translation, and the endpoint after it', () =>
  onNode(async node => {
    addRules(
      node,
      `table ip early { chain pre { type filter hook prerouting priority -150;
          ip daddr 10.96.0.10 tcp dport 80 drop
          ip daddr 10.244.1.9 drop
        } }
        table ip late { chain pre { type filter hook prerouting priority -50;
          ip daddr 10.96.0.10 drop
          ip daddr 10.244.1.9 tcp dport 8080 reject with tcp reset
        } }`,
    );
    assert.deepEqual(lines(await findIn(node, {})), [
      'early pre drops: ip daddr 10.96.0.10 tcp dport 80 drop',
      'late pre drops: ip daddr 10.244.1.9 tcp dport 8080 reject with tcp reset',
    ]);
  }));

test('MACHINE-11 a rule that hides the packet from connection tracking is found, if rules translate the packet', () =>
  onNode(async node => {
    addRules(
      node,
      `table inet fast {
        chain early {
          type filter hook prerouting priority -300; policy accept;
          ip daddr 10.96.0.11 notrack
          ip daddr 10.96.0.10 tcp dport 80 notrack
        }
        chain late { type filter hook prerouting priority -150; policy accept; notrack; }
      }`.replace('notrack; }', 'notrack\n}'),
    );
    const { findings } = await findIn(node, {});
    assert.deepEqual(
      findings.map(each => [each.text, each.certainty, 'verdict' in each && each.verdict]),
      [['ip daddr 10.96.0.10 tcp dport 80 notrack', 'drops', 'untrack']],
    );
    assert.deepEqual(lines(await findIn(node, { translatedBy: 'virtual server' })), []);
    assert.deepEqual(lines(await findIn(node, { endpoint: undefined })), []);
    runIn(node, 'ip', ['addr', 'add', '10.96.0.10/32', 'dev', 'lo']);
    assert.deepEqual(lines(await findIn(node, {})), [
      'fast early may drop (program of the node that has the address): ip daddr 10.96.0.10 tcp dport 80 notrack',
    ]);
  }));

test('MACHINE-12 an accept that surely matches ends its base chain only', () =>
  onNode(async node => {
    addRules(
      node,
      `table inet a { chain gate { type filter hook forward priority 0; policy drop;
          ct state established,related accept
          tcp dport { 80, 8080 } accept
          drop
        } }
        table inet b { chain gate { type filter hook forward priority 1; policy drop;
          ct state established,related accept
        } }`,
    );
    assert.deepEqual(lines(await findIn(node, {})), ['b gate drops: policy drop']);
  }));

test('MACHINE-13 a rule on an input interface may drop, and the finding names what is not known', () =>
  onNode(async node => {
    addRules(
      node,
      `table inet a { chain gate { type filter hook forward priority 0;
          iifname "eth1" drop
          oifname "eth1" drop
          oifname "eth0" iifname != "eth0" meta mark 0x1 drop
        } }`,
    );
    assert.deepEqual(lines(await findIn(node, {})), [
      'a gate may drop (input interface): iifname "eth1" drop',
      'a gate may drop (input interface, packet mark): oifname "eth0" iifname != "eth0" meta mark 0x00000001 drop',
    ]);
  }));

test('MACHINE-13 an accept that may match makes later drops uncertain, and a drop that may match does not', () =>
  onNode(async node => {
    addRules(
      node,
      `table inet a { chain gate { type filter hook forward priority 0; policy drop;
          iifname "eth1" accept
          meta mark 0x1 drop
        } }
        table inet b { chain gate { type filter hook forward priority 1; policy drop;
          meta mark 0x1 drop
        } }`,
    );
    assert.deepEqual(lines(await findIn(node, {})), [
      'a gate may drop (input interface, packet mark): meta mark 0x00000001 drop',
      'a gate may drop (input interface): policy drop',
      'b gate may drop (packet mark): meta mark 0x00000001 drop',
      'b gate drops: policy drop',
    ]);
  }));

test('MACHINE-13 an expression that is not decoded makes its rule uncertain', () =>
  onNode(async node => {
    addRules(
      node,
      `table ip a { chain gate { type filter hook forward priority 0;
          ip saddr 10.244.0.5 rt ip nexthop 192.168.0.1 drop
        } }`,
    );
    const { findings } = await findIn(node, {});
    assert.deepEqual(
      findings.map(({ certainty, unknown }) => [certainty, unknown]),
      [['may drop', ['expression rt']]],
    );
  }));

test('MACHINE-14 jumps, gotos, returns and verdict maps are followed', () =>
  onNode(async node => {
    addRules(
      node,
      `table inet a {
        chain quiet { return; drop; }
        chain zone { tcp dport 22 accept; reject with icmpx admin-prohibited; }
        chain other { drop; }
        chain gate { type filter hook forward priority 0;
          jump quiet
          ip saddr vmap { 10.9.0.0/16 : jump other, 10.244.0.0/16 : goto zone }
          drop comment "not reached"
        } }
      table inet b {
        chain skip { iifname "eth1" return; accept; }
        chain gate { type filter hook forward priority 1; policy drop;
          jump skip
        } }`,
    );
    assert.deepEqual(lines(await findIn(node, {})), [
      'a zone drops: reject with icmpx admin-prohibited',
      'b gate may drop (input interface): policy drop',
    ]);
  }));

test('MACHINE-15 lookups in named and anonymous sets, ranges, concatenations and large sets are evaluated', () =>
  onNode(async node => {
    const many = Array.from({ length: 5000 }, (_, i) => `10.${100 + (i >> 8)}.${i & 255}.1`);
    addRules(
      node,
      `table ip a {
        set nets { type ipv4_addr; flags interval; elements = { 10.9.0.0/16, 10.244.1.0-10.244.1.20 } }
        set pairs { type ipv4_addr . inet_service; flags interval; elements = { 10.244.0.0/16 . 8000-8100 } }
        set hosts { type ipv4_addr; elements = { ${[...many, '10.244.1.9'].join(', ')} } }
        set strangers { type ipv4_addr; elements = { ${many.join(', ')} } }
        chain gate { type filter hook forward priority 0;
          ip daddr @nets counter jump one
          ip daddr . tcp dport @pairs jump two
          ip daddr @hosts jump three
          ip daddr @strangers drop
          ip daddr != { 10.244.1.9, 10.244.1.10 } drop
          tcp dport 8000-8100 tcp sport { 53, 99 } drop
          tcp flags & (fin | syn | rst | ack) == syn ip daddr & 255.255.0.0 == 10.244.0.0 drop
        }
        chain one { meta l4proto udp drop }
        chain two { ip protocol tcp limit rate over 10/second drop }
        chain three { fib daddr type local drop }
      }`,
    );
    assert.deepEqual(lines(await findIn(node, {})), [
      'a two may drop (rate of packets): ip protocol tcp limit rate over 10/second drop',
      'a gate may drop (source port): tcp dport 8000-8100 tcp sport { 53, 99 } drop',
      'a gate drops: tcp flags syn / fin,syn,rst,ack ip daddr 10.244.0.0/16 drop',
    ]);
  }));

test('MACHINE-16 a firewall like firewalld gives no false alarm for a translated packet, and drops one that is not', () =>
  onNode(async node => {
    addRules(node, FIREWALLD);
    assert.deepEqual(lines(await findIn(node, {})), []);
    const plain = { packet: { destination: '10.244.1.9', port: 8080 }, endpoint: undefined };
    assert.deepEqual(lines(await findIn(node, plain)), [
      'firewalld filter_FORWARD may drop (input interface): reject with icmpx admin-prohibited',
    ]);
  }));

const FIREWALLD = `table inet firewalld {
  chain mangle_PREROUTING { type filter hook prerouting priority mangle + 10; policy accept;
    jump mangle_PREROUTING_ZONES
  }
  chain mangle_PREROUTING_ZONES { iifname "eth0" goto mangle_PRE_public; goto mangle_PRE_public; }
  chain mangle_PRE_public { return; }
  chain filter_INPUT { type filter hook input priority filter + 10; policy accept;
    ct state { established, related } accept
    ct status dnat accept
    iifname "lo" accept
    ct state invalid drop
    jump filter_INPUT_ZONES
    reject with icmpx admin-prohibited
  }
  chain filter_INPUT_ZONES { iifname "eth0" goto filter_IN_public; goto filter_IN_public; }
  chain filter_IN_public { tcp dport 22 accept; }
  chain filter_FORWARD { type filter hook forward priority filter + 10; policy accept;
    ct state { established, related } accept
    ct status dnat accept
    iifname "lo" accept
    ct state invalid drop
    ip6 daddr { ::/96, ::ffff:0.0.0.0/96 } reject with icmpv6 addr-unreachable
    jump filter_FORWARD_ZONES
    reject with icmpx admin-prohibited
  }
  chain filter_FORWARD_ZONES { iifname "eth0" goto filter_FWD_public; goto filter_FWD_public; }
  chain filter_FWD_public { oifname "docker0" accept; }
}`;

test('MACHINE-17 a table of nftables mode is not reported, and tables of other families are named', () =>
  onNode(async node => {
    addRules(
      node,
      `table ip kube-proxy { chain f { type filter hook forward priority 0; policy drop; } }
       table ip asleep { flags dormant; chain f { type filter hook forward priority 0; policy drop; } }
       table bridge shield { chain f { type filter hook forward priority 0; policy drop; } }
       table netdev edge { }
       table inet door { chain in { type filter hook ingress device "eth0" priority 0; policy drop; } }
       table arp ignored { }`,
    );
    const found = await findIn(node, {});
    assert.deepEqual(
      { ...found, unread: [...found.unread].sort() },
      {
        findings: [],
        unread: ['bridge shield', 'inet door', 'netdev edge'],
        incomplete: undefined,
      },
    );
  }));

test('MACHINE-18 a packet to a process of the node goes through input, and one of the node itself through output', () =>
  onNode(async node => {
    const hooks = ['prerouting', 'input', 'forward', 'output', 'postrouting'];
    addRules(
      node,
      `table inet every { ${hooks.map(hook => `chain ${hook} { type filter hook ${hook} priority 0; drop; }`).join('\n')} }`,
    );
    const way = async (path: Parameters<typeof findIn>[1]) =>
      (await findIn(node, path)).findings.map(finding => ('hook' in finding ? finding.hook : finding.kind));
    assert.deepEqual(await way({}), ['prerouting', 'forward', 'postrouting']);
    assert.deepEqual(await way({ endpoint: { ip: '192.168.0.2', port: 80 } }), ['prerouting', 'input']);
    assert.deepEqual(await way({ isFromNode: true }), ['output', 'postrouting']);
    const local = { isFromNode: true, endpoint: { ip: '192.168.0.2', port: 80 } };
    assert.deepEqual(await way(local), ['output', 'postrouting', 'prerouting', 'input']);
    assert.deepEqual(await way({ translatedBy: 'virtual server' }), ['prerouting', 'input', 'output', 'postrouting']);
    assert.deepEqual(await way({ translatedBy: 'virtual server', isFromNode: true }), [
      'output',
      'output',
      'postrouting',
    ]);
  }));

test('MACHINE-19 IPv6 packets meet the tables ip6 and inet', () =>
  onNode(async node => {
    addRules(
      node,
      `table ip a { chain f { type filter hook forward priority 0; policy drop; } }
       table ip6 b { chain f { type filter hook forward priority 0; ip6 daddr fd00:10:244::/48 tcp dport 8080 drop; } }
       table inet c { chain f { type filter hook forward priority 1;
         meta nfproto ipv4 drop
         ip6 saddr fd00:10:244::5 reject with icmpv6 no-route
       } }`,
    );
    const path = {
      packet: { source: 'fd00:10:244::5', destination: 'fd00:10:96::a', port: 80 },
      endpoint: { ip: 'fd00:10:244::9', port: 8080 },
    };
    assert.deepEqual(lines(await findIn(node, path)), [
      'b f drops: ip6 daddr fd00:10:244::/48 tcp dport 8080 drop',
      'c f drops: ip6 saddr fd00:10:244::5 reject with icmpv6 no-route',
    ]);
  }));

test('MACHINE-20 two thousand rules are evaluated in full, and a limit ends the work with a reason', () =>
  onNode(async node => {
    const rules = Array.from({ length: 2000 }, (_, i) => `ip saddr 10.7.${i >> 8}.${i & 255} tcp dport 8080 drop`);
    addRules(
      node,
      `table inet big { chain f { type filter hook forward priority 0; policy drop; ${rules.join('\n')} } }`,
    );
    const whole = await findIn(node, {});
    assert.deepEqual(lines(whole), ['big f drops: policy drop']);
    assert.equal(whole.incomplete, undefined);
    const cut = await findIn(node, {}, { maxRules: 500 });
    assert.match(cut.incomplete ?? '', /more rules/);
  }));
