/**
 * KUBE-FIREWALL, as iptables mode makes it together with node ports at localhost. It stays when the mode ends, because
 * `route_localnet` stays, and it protects the ports of the node at 127.0.0.1 (MODE-11, IPT-13).
 */
const FIREWALL = [
  'iptables-save filter KUBE-FIREWALL :KUBE-FIREWALL - [0:0]',
  'iptables-save filter INPUT -A INPUT -j KUBE-FIREWALL',
  'iptables-save filter OUTPUT -A OUTPUT -j KUBE-FIREWALL',
  'iptables-save filter KUBE-FIREWALL -A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 ' +
    '-m comment --comment "block incoming localnet connections" ' +
    '-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
];

/** The state without KUBE-FIREWALL. If only a part of it is there, or anything more, the state stays as it is. */
export function withoutFirewall(state: string): string {
  const lines = state.split('\n');
  const isComplete = FIREWALL.every(line => lines.includes(line));
  return isComplete ? lines.filter(line => !FIREWALL.includes(line)).join('\n') : state;
}
