import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lines } from '../../../test/support/machine.ts';
import { CLIENT_IP, RouterLab, SERVER, SERVICE } from '../../../test/support/router.ts';
import { runIn, runNftScript } from '../../../test/support/run-in.ts';
import { findOtherRules } from '../index.ts';

// Random rules on a node that forwards real packets: what surely drops must drop, and a packet without findings passes.

const SILENCE_MS = 100;
const ANSWER_MS = 30_000;

async function compare(lab: RouterLab): Promise<void> {
  const packet = {
    family: 'IPv4',
    protocol: 'UDP',
    source: CLIENT_IP,
    destination: SERVICE.ip,
    port: SERVICE.port,
  } as const;
  const options = { namespace: lab.node, timeoutMs: 60_000 };
  const found = await findOtherRules({ packet, isFromNode: false, endpoint: SERVER }, options);
  assert.equal(found.incomplete, undefined);
  const text = lines(found).join('\n');
  const isSure = found.findings.some(({ certainty }) => certainty === 'drops');
  if (isSure) assert.equal(await lab.isAnswered(SILENCE_MS), false, `answered in spite of:\n${text}`);
  else if (found.findings.length === 0)
    assert.equal(await lab.isAnswered(ANSWER_MS), true, 'dropped without a finding');
}

const NFT_MATCHES = [
  'ip saddr 10.244.0.5',
  'ip saddr 10.244.0.0/24',
  'ip saddr 10.9.0.0/16',
  'ip saddr != 10.244.0.5',
  'ip daddr 10.244.1.9',
  'ip daddr 10.96.0.10',
  'ip daddr { 10.244.1.0/24, 10.8.0.1 }',
  'ip daddr != { 10.244.1.9, 10.244.1.10 }',
  'udp dport 5353',
  'udp dport 53',
  'udp dport 5000-6000',
  'udp dport != 5000-6000',
  'udp dport { 53, 80-90 }',
  'ip daddr . udp dport { 10.244.1.9 . 5353, 10.96.0.10 . 53 }',
  'meta l4proto tcp',
  'ip protocol udp',
  'meta nfproto ipv4',
  'ct state new',
  'ct state established,related',
  'ct state invalid',
  'ct status dnat',
  'ct direction original',
  'ct original ip daddr 10.96.0.10',
  'oifname "right"',
  'oifname "left"',
  'iifname "left"',
  'iifname "right"',
  'meta mark 0x1',
  'meta mark & 0xff == 0',
  'fib daddr type local',
  'tcp dport 5353',
  'udp sport 1',
  'limit rate over 1/day burst 1 packets',
];
const CHAINS = ['c0', 'c1', 'c2'];

/** nft refuses a rule that wants two protocols. */
const nftRule = (depth: number) => {
  const later = CHAINS.slice(depth);
  const verdicts = ['accept', 'drop', 'return', 'counter', 'reject'].concat(
    later.flatMap(chain => [
      `jump ${chain}`,
      `goto ${chain}`,
      `udp dport vmap { 5353 : jump ${chain}, 53 : drop }`,
      `ip saddr vmap { 10.244.0.0/16 : goto ${chain}, 10.9.0.0/16 : accept }`,
    ]),
  );
  return fc
    .tuple(fc.array(fc.constantFrom(...NFT_MATCHES), { maxLength: 2 }), fc.constantFrom(...verdicts))
    .map(([matches, verdict]) => [...matches, verdict].join(' '))
    .filter(rule => !(/\btcp\b/.test(rule) && /\budp\b/.test(rule)));
};

const base = fc.record({
  place: fc.constantFrom(
    'prerouting priority -150',
    'prerouting priority -50',
    'forward priority 0',
    'postrouting priority 50',
  ),
  policy: fc.constantFrom('accept', 'accept', 'drop'),
  rules: fc.array(nftRule(0), { maxLength: 4 }),
  chains: fc.tuple(...CHAINS.map((_, i) => fc.array(nftRule(i + 1), { maxLength: 3 }))),
});

/** `reject` exists only at some hooks. The answers of the server must pass, because only the first packet is evaluated. */
function nftTable({ place, policy, rules, chains }: typeof base extends fc.Arbitrary<infer T> ? T : never): string {
  const text = (rule: string) => (place.startsWith('forward') ? rule : rule.replace('reject', 'drop'));
  const chain = (name: string, lines: readonly string[]) => `chain ${name} {\n${lines.map(text).join('\n')}\n}\n`;
  const regular = chains.map((list, i) => chain(`c${i}`, list)).reverse();
  const replies = 'ct direction reply accept';
  return `table inet fuzz {\n${regular.join('')}${chain('gate', [`type filter hook ${place}; policy ${policy};`, replies, ...rules])}}\n`;
}

test('MACHINE-13 what nft rules surely drop is dropped, and a packet without findings passes', async () => {
  const lab = new RouterLab();
  try {
    assert.equal(await lab.isAnswered(ANSWER_MS), true);
    await fc.assert(
      fc.asyncProperty(base, async table => {
        runNftScript(lab.node, nftTable(table));
        try {
          await compare(lab);
        } finally {
          runNftScript(lab.node, 'delete table inet fuzz');
        }
      }),
      { numRuns: 60 },
    );
  } finally {
    lab.close();
  }
});

const IPTABLES_MATCHES = [
  '-s 10.244.0.5/32',
  '! -s 10.244.0.0/24',
  '-d 10.244.1.9/32',
  '-d 10.96.0.10/32',
  '! -d 10.244.1.0/24',
  '-p udp',
  '-p tcp',
  '-p udp -m udp --dport 5353',
  '-p udp -m udp ! --dport 5000:6000',
  '-p udp -m multiport --dports 53,5300:5400',
  '-p tcp -m tcp --dport 5353',
  '-m conntrack --ctstate NEW',
  '-m conntrack --ctstate ESTABLISHED,RELATED',
  '-m conntrack ! --ctstate INVALID',
  '-m conntrack --ctstate DNAT',
  '-m conntrack --ctorigdst 10.96.0.10',
  '-m iprange --src-range 10.244.0.1-10.244.0.9',
  '-m addrtype --dst-type LOCAL',
  '-m mark --mark 0x1/0x1',
  '-m statistic --mode random --probability 0.5',
  '-m comment --comment "-j DROP"',
  '-i left',
  '! -i right',
  '-o right',
  '-o lef+',
];

const iptablesRule = (depth: number) => {
  const targets = ['ACCEPT', 'DROP', 'RETURN', 'REJECT'].map(name => `-j ${name}`);
  const jumps = CHAINS.slice(depth).flatMap(chain => [`-j ${chain}`, `-g ${chain}`]);
  return fc
    .tuple(fc.constantFrom('', ...IPTABLES_MATCHES), fc.constantFrom(...targets, ...jumps))
    .map(([match, target]) => `${match} ${target}`);
};

const filter = fc.record({
  policy: fc.constantFrom('ACCEPT', 'ACCEPT', 'DROP'),
  rules: fc.array(iptablesRule(0), { maxLength: 4 }),
  chains: fc.tuple(...CHAINS.map((_, i) => fc.array(iptablesRule(i + 1), { maxLength: 3 }))),
});

for (const backend of ['nft', 'legacy']) {
  test(`MACHINE-21 what rules of iptables surely drop is dropped, and a packet without findings passes (${backend})`, async () => {
    const lab = new RouterLab();
    try {
      await fc.assert(
        fc.asyncProperty(filter, async ({ policy, rules, chains }) => {
          const text = [
            '*filter',
            `:FORWARD ${policy} [0:0]`,
            ...CHAINS.map(chain => `:${chain} - [0:0]`),
            '-A FORWARD -m conntrack --ctdir REPLY -j ACCEPT',
            ...rules.map(rule => `-A FORWARD ${rule}`),
            ...chains.flatMap((list, i) => list.map(rule => `-A c${i} ${rule}`)),
            'COMMIT',
            '',
          ];
          runIn(lab.node, `iptables-${backend}-restore`, [], text.join('\n'));
          await compare(lab);
        }),
        { numRuns: 25 },
      );
    } finally {
      lab.close();
    }
  });
}
