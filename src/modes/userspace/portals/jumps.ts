import { quoteRule, type SavedTables, splitRule } from '../../../kernel/iptables/index.ts';
import type { ChainName, TableName } from '../names.ts';

/** A rule of a built-in chain that leads to one of our chains. */
export interface Jump {
  readonly table: TableName;
  readonly from: string;
  readonly to: ChainName;
  readonly position: 'prepend' | 'append';
  readonly match: readonly string[];
}

// The comments are those of upstream's userspace mode, but for that of KUBE-PORTALS-FILTER, which is our own chain.
const CLUSTER_IPS = 'handle ClusterIPs; NOTE: this must be before the NodePort rules';
const NODE_PORTS = 'handle service NodePorts; NOTE: this must be the last rule in the chain';
const NON_LOCAL = 'Ensure that non-local NodePort traffic can flow';
const FILTER = 'portals without endpoints, and the ports behind portals';

const comment = (text: string) => ['-m', 'comment', '--comment', text];
const LOCAL = ['-m', 'addrtype', '--dst-type', 'LOCAL'];
/** Only new connections go through the chain. Later packets skip it, which saves time. */
const NEW = ['-m', 'conntrack', '--ctstate', 'NEW'];

export const JUMPS: readonly Jump[] = [
  jump('nat', 'PREROUTING', 'KUBE-PORTALS-CONTAINER', 'prepend', ...comment(CLUSTER_IPS)),
  jump('nat', 'OUTPUT', 'KUBE-PORTALS-HOST', 'prepend', ...comment(CLUSTER_IPS)),
  jump('nat', 'PREROUTING', 'KUBE-NODEPORT-CONTAINER', 'append', ...LOCAL, ...comment(NODE_PORTS)),
  jump('nat', 'OUTPUT', 'KUBE-NODEPORT-HOST', 'append', ...LOCAL, ...comment(NODE_PORTS)),
  jump('filter', 'INPUT', 'KUBE-NODEPORT-NON-LOCAL', 'prepend', ...comment(NON_LOCAL)),
  ...['INPUT', 'FORWARD', 'OUTPUT'].map(from =>
    jump('filter', from, 'KUBE-PORTALS-FILTER', 'prepend', ...NEW, ...comment(FILTER)),
  ),
];

function jump(
  table: TableName,
  from: string,
  to: ChainName,
  position: Jump['position'],
  ...match: readonly string[]
): Jump {
  return { table, from, to, position, match };
}

export function jumpWords({ match, to }: Jump): readonly string[] {
  return [...match, '-j', to];
}

/** The line of restore input that adds the jump. */
export function jumpLine(jump: Jump): string {
  return `${jump.position === 'append' ? '-A' : '-I'} ${jump.from} ${quoteRule(jumpWords(jump))}`;
}

/** The jumps that the tables lack. A rule is a jump whatever it matches, so the mode does not move one that exists. */
export function missingJumps(saved: SavedTables): readonly Jump[] {
  return JUMPS.filter(({ table, from, to }) => {
    const rules = saved.get(table)?.get(from)?.rules ?? [];
    return !rules.some(({ text }) => splitRule(text).at(-1) === to);
  });
}
