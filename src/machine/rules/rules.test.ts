import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Expression } from '../../kernel/nftables/index.ts';
import type { Ip } from '../../net/index.ts';
import { evaluateIptablesRule, parseIptablesRule } from './iptables-rule.ts';
import { evaluateNftRule } from './nft-rule.ts';
import type { TableSets } from './nft-sets.ts';
import { type PacketView, stagesOf } from './packet-view.ts';

const LINK = { index: 3, name: 'eth0' };
const QUEUE = 'verdict of the program that reads the queue';

/** What a rule of the forward chain sees of a packet from 10.244.0.5 to 10.96.0.10:80, which goes to 10.244.1.9:8080. */
function forwarded(): PacketView {
  const way = { type: 'unicast', link: LINK } as const;
  const stages = stagesOf(
    {
      packet: {
        family: 'IPv4',
        protocol: 'TCP',
        source: '10.244.0.5' as Ip,
        destination: '10.96.0.10' as Ip,
        port: 80,
      },
      endpoint: { ip: '10.244.1.9' as Ip, port: 8080 },
      isFromNode: false,
    },
    {
      original: way,
      originalError: undefined,
      target: way,
      targetError: undefined,
      lo: { index: 1, name: 'lo' },
      back: LINK,
    },
  );
  return stages.find(({ hook }) => hook === 'forward')?.view(0) ?? assert.fail();
}

test('MACHINE-13 a rule that gives packets to a program may drop', async () => {
  const expressions: readonly Expression[] = [
    { kind: 'unknown', name: 'last' },
    { kind: 'unknown', name: 'queue' },
  ];
  const sets = {} as TableSets;
  const nft = await evaluateNftRule({ kind: 'rule', chain: 'c', expressions }, forwarded(), sets);
  assert.deepEqual(nft, [{ effect: { kind: 'drop' }, unknown: [QUEUE] }]);
  assert.deepEqual(effects('-p tcp -j NFQUEUE --queue-num 3'), [['drop', [QUEUE]]]);
});

function effects(text: string): readonly unknown[] {
  const isChain = (name: string) => name === 'zone';
  return evaluateIptablesRule(parseIptablesRule(text), forwarded(), isChain).map(({ effect, unknown }) => [
    'chain' in effect ? `${effect.kind} ${effect.chain}` : effect.kind,
    unknown,
  ]);
}

/** What each rule does with the packet: nothing, its effect, or its effect and what decides it. */
const RULES: Readonly<Record<string, readonly unknown[]>> = {
  '-j DROP': [['drop', []]],
  '-p tcp -j CT --notrack': [['untrack', []]],
  '-p tcp -j NOTRACK': [['untrack', []]],
  '-j CT --zone 3': [],
  '-j zone': [['jump zone', []]],
  '-g zone': [['goto zone', []]],
  '-j LOG --log-prefix "-j DROP "': [],
  '-m comment --comment "! -s 1.2.3.4"': [],
  '-s 10.244.0.0/16 -d 10.244.1.9/32 -p tcp -j DROP': [['drop', []]],
  '! -s 10.244.0.0/16 -j DROP': [],
  '-p 6 -j DROP': [['drop', []]],
  '-p udp -j DROP': [],
  '-p tcp -m tcp --dport 8000:8100 -j DROP': [['drop', []]],
  '-p tcp -m tcp --dport :8000 -j DROP': [],
  '-p tcp -m tcp --sport 53 -j DROP': [['drop', ['source port']]],
  '-p tcp -m multiport --ports 53,8080 -j DROP': [['drop', []]],
  '-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j DROP': [['drop', []]],
  '-p tcp -m tcp --tcp-flags FIN,ACK FIN -j DROP': [],
  '-p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN -m conntrack --ctstate NEW -j DROP': [],
  '-m state --state NEW,ESTABLISHED -j DROP': [['drop', []]],
  '-m conntrack --ctstate RELATED,ESTABLISHED -j DROP': [],
  '-m conntrack --ctstate DNAT -j DROP': [['drop', []]],
  '-m conntrack --ctorigdstport 80 -j DROP': [['drop', []]],
  '-i eth1 -j DROP': [['drop', ['input interface']]],
  '-o eth+ -j DROP': [['drop', []]],
  '! -o eth0 -j DROP': [],
  '-m set --match-set blocked src -j DROP': [['drop', ['ipset blocked']]],
  '-m set ! --match-set allowed src -j DROP': [['drop', ['ipset allowed']]],
  '-m mark --mark 0x8000/0x8000 -j DROP': [['drop', ['packet mark']]],
  '-m limit --limit 5/min -j DROP': [['drop', ['rate of packets']]],
  '-m nfacct --nfacct-name dropped -j DROP': [['drop', []]],
  '-m owner --uid-owner 0 -j DROP': [],
  '-m rpfilter --invert -j DROP': [['drop', ['input interface']]],
  '-m somebody --knows this -j DROP': [['drop', ['match somebody']]],
  '-m iprange --dst-range 10.244.1.1-10.244.1.9 -j DROP': [['drop', []]],
  '-m addrtype --dst-type LOCAL -j DROP': [],
  '-m addrtype ! --dst-type LOCAL -j DROP': [['drop', []]],
  '-s 10.0.0.0/255.0.255.0 -j DROP': [['drop', ['source address']]],
};

test('MACHINE-21 matches of iptables are evaluated, and what is not known is named', () => {
  for (const [rule, expected] of Object.entries(RULES)) assert.deepEqual(effects(rule), expected, rule);
});
