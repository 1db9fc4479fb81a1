import { damageSuite, iptablesDrop, missing, nftDrop, PINNED, type Run } from './damage-suite.ts';

/** The first rule of a chain with the text, without `-A`. */
function ruleOf(run: Run, program: string, chain: string, text: string): string {
  const rules = run(`${program} -t nat -S ${chain}`).split('\n');
  return rules.find(rule => rule.startsWith('-A') && rule.includes(text))?.slice('-A '.length) ?? '';
}

damageSuite('nftables', 'nftables', [
  missing(
    'an element is deleted',
    'nft delete element ip kube-proxy service-numbers "{ 10.96.0.10 . tcp . 80 }"',
    /^The kernel differs from the plan: element missing in map ip kube-proxy service-numbers/,
  ),
  missing(
    'a base chain is emptied',
    'nft flush chain ip kube-proxy nat-prerouting',
    /^The kernel differs from the plan: rule missing in chain ip kube-proxy nat-prerouting/,
  ),
  nftDrop('forward'),
  iptablesDrop('iptables-nft', 'FORWARD'),
  PINNED,
]);

for (const backend of ['nf_tables', 'legacy'] as const) {
  const program = backend === 'legacy' ? 'iptables-legacy' : 'iptables-nft';
  damageSuite(
    'iptables',
    `iptables with ${backend}`,
    [
      missing(
        'a rule is deleted',
        run => `${program} -t nat -D ${ruleOf(run, program, 'KUBE-SERVICES', '10.96.0.10/32')}`,
        /^The kernel differs from the plan: rule missing in chain nat KUBE-SERVICES/,
      ),
      missing(
        'a rule is changed',
        run => {
          const rule = ruleOf(run, program, 'KUBE-SERVICES', '10.96.0.10/32');
          const [chain = ''] = /KUBE-SVC-\w+/.exec(rule) ?? [];
          return `${program} -t nat -R ${chain} 1 -j RETURN`;
        },
        /^The kernel differs from the plan: rule \w+ in chain nat KUBE-SVC-/,
      ),
      nftDrop('forward'),
      iptablesDrop(program, 'FORWARD'),
      PINNED,
    ],
    { backend },
  );
}

damageSuite('userspace', 'userspace', [
  missing(
    'the jump to the portals is deleted',
    run => `iptables -t nat -D ${ruleOf(run, 'iptables', 'PREROUTING', 'KUBE-PORTALS-CONTAINER')}`,
    /^The kernel differs from the plan: rule missing in chain nat PREROUTING/,
  ),
  missing(
    'a rule before that of a portal returns',
    'iptables -t nat -I KUBE-PORTALS-CONTAINER -d 10.96.0.10/32 -p tcp --dport 80 -j RETURN',
    /^The kernel differs from the plan: rule unexpected in chain nat KUBE-PORTALS-CONTAINER/,
  ),
  nftDrop('output'),
  iptablesDrop('iptables-nft', 'OUTPUT'),
  PINNED,
]);
