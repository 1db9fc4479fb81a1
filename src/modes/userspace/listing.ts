import { quoteRule } from '../../kernel/iptables/index.ts';
import { Breaks } from '../../lib/breaks.ts';
import type { Family } from '../../net/index.ts';
import { builtInBlocks, chainBlock, LISTENERS, ruleLine as listedRule } from '../iptables-blocks.ts';
import type { Listing } from '../listing.ts';
import { arrangeListing, type DraftBlock } from '../listing-order.ts';
import type { RulesByPort } from './diff.ts';
import { CHAINS, type ChainName, TABLES } from './names.ts';
import { JUMPS, jumpWords } from './portals/jumps.ts';
import { ruleLine } from './portals/restore-text.ts';
import type { ServiceProxy } from './proxies/service-proxy.ts';
import { listeners, type ServedPort, wantedRules } from './read-back.ts';

export interface ListingInput {
  readonly family: Family;
  /** The service ports of one Service, or none. */
  readonly ports: readonly ServedPort[];
  readonly committed: RulesByPort;
  readonly proxies: Iterable<Pick<ServiceProxy, 'openCount'>>;
}

const ABOUT: Readonly<Record<ChainName, string>> = {
  'KUBE-PORTALS-CONTAINER': 'Leads connections from pods and from outside to the listener of a Service.',
  'KUBE-PORTALS-HOST': 'Leads connections that begin on this node to the listener of a Service.',
  'KUBE-NODEPORT-CONTAINER': 'Leads connections from pods and from outside to the listener of a node port.',
  'KUBE-NODEPORT-HOST': 'Leads connections that begin on this node to the listener of a node port.',
  'KUBE-NODEPORT-NON-LOCAL': 'Lets connections to node ports reach the listeners.',
  'KUBE-PORTALS-FILTER': 'Refuses connections that no endpoint can serve, and those that bypass a Service.',
};

/** The chains of one family and the listeners of this process, with those of one Service. */
export async function listUserspace(input: ListingInput): Promise<Listing> {
  const { family, ports } = input;
  const counts = await ruleCounts(input.committed);
  const jumps = JUMPS.map(jump => {
    const { table, from, position } = jump;
    return { table, from, rule: quoteRule(jumpWords(jump)), isAppended: position === 'append' };
  });
  const rules = ports.flatMap(port => wantedRules(port).map(rule => ({ rule, service: port.plan.service })));
  const chains = TABLES.flatMap(table =>
    CHAINS[table].map(chain =>
      chainBlock(family, {
        table,
        chain,
        about: ABOUT[chain],
        lines: rules
          .filter(({ rule }) => rule.chain === chain)
          .map(({ rule, service }) => listedRule(table, ruleLine('-A', rule), service)),
        total: counts.get(chain) ?? 0,
      }),
    ),
  );
  return arrangeListing({ blocks: [...builtInBlocks(family, jumps), ...chains, listenerBlock(input)] });
}

async function ruleCounts(committed: RulesByPort): Promise<ReadonlyMap<ChainName, number>> {
  const counts = new Map<ChainName, number>();
  const breaks = new Breaks();
  for (const rules of committed.values()) {
    for (const { chain } of rules) counts.set(chain, (counts.get(chain) ?? 0) + 1);
    if (breaks.isDue) await breaks.take();
  }
  return counts;
}

function listenerBlock({ ports, proxies }: ListingInput): DraftBlock {
  let total = 0;
  for (const { openCount } of proxies) total += openCount;
  const lines = ports.flatMap(port =>
    listeners(port).flatMap(({ place, wanted }) =>
      wanted === undefined ? [] : [{ parts: [`${wanted}, ${place}`], service: port.plan.service }],
    ),
  );
  return {
    id: LISTENERS,
    kind: 'listeners',
    name: 'of this process',
    group: 'this process',
    about: 'The process accepts the connections that the rules lead to it, and relays each one to an endpoint.',
    command: 'ss -Hlntup',
    lines,
    total,
  };
}
