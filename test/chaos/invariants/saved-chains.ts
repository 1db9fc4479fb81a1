/**
 * Every service port has rules of its own in these chains. No packet matches the rules of two service ports, so the mode
 * inserts changed ones where that is cheapest (IPT-2, USER-26). The service ports may stand in any order, and nothing
 * else may.
 */
const SHARED_CHAINS = new Set([
  'KUBE-SERVICES',
  'KUBE-EXTERNAL-SERVICES',
  'KUBE-NODEPORTS',
  'KUBE-PROXY-FIREWALL',
  'KUBE-PORTALS-CONTAINER',
  'KUBE-PORTALS-HOST',
  'KUBE-PORTALS-FILTER',
  'KUBE-NODEPORT-CONTAINER',
  'KUBE-NODEPORT-HOST',
  'KUBE-NODEPORT-NON-LOCAL',
]);

/** Rules that stand together because they belong to one service port, or one rule that belongs to none. */
interface Block {
  readonly servicePort: string | undefined;
  readonly lines: string[];
}

/**
 * The rules by table and chain, and the chains that are not built in. The rules of a chain keep their order. In a chain
 * that service ports share, only the service ports are sorted: each keeps the order of its rules, and rules of no
 * service port keep their places before, between or behind them. The heading of each service port shows whether its
 * rules stand together.
 */
export function sortedByChain(program: string, saved: string): string {
  let table = '';
  const chains = new Map<string, string[]>();
  for (const line of saved.split('\n')) {
    if (line.startsWith('*')) table = line.slice(1);
    const [, chain] = /^(?::(?=\S+ -)|-A )(\S+)/.exec(line) ?? [];
    if (!chain) continue;
    const key = `${program} ${table} ${chain}`;
    chains.set(key, [...(chains.get(key) ?? []), line]);
  }
  return [...chains]
    .toSorted(([one], [other]) => (one < other ? -1 : Number(one > other)))
    .flatMap(([key, lines]) => orderedRules(key.split(' ')[2] ?? '', lines).map(line => `${key} ${line}`))
    .join('\n');
}

function orderedRules(chain: string, lines: readonly string[]): readonly string[] {
  if (!SHARED_CHAINS.has(chain)) return lines;
  return sortedRuns(blocksOf(lines)).flatMap(({ servicePort, lines: own }) =>
    servicePort === undefined ? own : [`# ${servicePort}`, ...own.map(withoutProxyPort)],
  );
}

function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  for (const line of lines) {
    const [, servicePort] = /--comment "([^" ]+\/[^" ]+)/.exec(line) ?? [];
    const last = blocks.at(-1);
    if (last && servicePort !== undefined && last.servicePort === servicePort) last.lines.push(line);
    else blocks.push({ servicePort, lines: [line] });
  }
  return blocks;
}

/** Sorts the blocks of service ports that follow each other. Other blocks stay in their places. */
function sortedRuns(blocks: readonly Block[]): readonly Block[] {
  const runs: Block[][] = [];
  for (const block of blocks) {
    const run = runs.at(-1);
    if (run && block.servicePort !== undefined && run[0]?.servicePort !== undefined) run.push(block);
    else runs.push([block]);
  }
  const name = ({ servicePort = '' }: Block) => servicePort;
  return runs.flatMap(run =>
    run.toSorted((one, other) => (name(one) < name(other) ? -1 : Number(name(one) > name(other)))),
  );
}

/** Userspace mode gets its proxy ports from the kernel. The ports of a run's Services are below this range. */
function withoutProxyPort(line: string): string {
  return line.replace(/(--to-ports |--to-destination \S+:|--dport )(?:3[2-9]|[456]\d)\d{3}\b/g, '$1PROXY-PORT');
}
