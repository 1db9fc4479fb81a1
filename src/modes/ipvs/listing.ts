import { printCreate, printElement } from '../../kernel/ipset/index.ts';
import { printDestination, printService } from '../../kernel/ipvs/index.ts';
import { planId, planName, type ServicePortPlan } from '../../plan/index.ts';
import { builtInBlocks, chainBlock, ruleLine, setId } from '../iptables-blocks.ts';
import type { ListedLine, Listing } from '../listing.ts';
import { arrangeListing, type DraftBlock, linkNames } from '../listing-order.ts';
import { addressText } from './kernel-state/read-objects.ts';
import { CHAINS, ipSet, LINK, SET_KEYS, type SetKey, setName, TABLES } from './names.ts';
import { type Drop, type RenderContext, type Rendered, render } from './render.ts';
import { ABOUT_CHAINS, ABOUT_SETS } from './rules/about.ts';
import { JUMPS, jumpRule } from './rules/jumps.ts';
import { type RuleInput, rulesOf } from './rules/rule-text.ts';
import type { VirtualServer } from './wanted/virtual-server.ts';
import type { WantedObjects } from './wanted/wanted-objects.ts';
import { weightOf } from './wanted/weights.ts';

export interface ListingInput {
  /** Of one Service, or none. */
  readonly plans: readonly ServicePortPlan[];
  readonly context: RenderContext;
  /** What all service ports want together. */
  readonly wanted: WantedObjects;
  readonly rules: RuleInput;
}

interface RenderedPlan extends Rendered {
  readonly plan: ServicePortPlan;
}

/** The chains, sets, addresses and virtual servers of one family, with those of one Service. */
export function listIpvs(input: ListingInput): Listing {
  const { context, plans, wanted } = input;
  const { family } = context;
  const rendered = plans.map(plan => ({ plan, ...render(context, plan) }));
  const jumps = JUMPS.map(jump => ({ table: jump.table, from: jump.from, rule: jumpRule(jump) }));
  const builtIn = builtInBlocks(family, jumps);
  const at = (hook: string) => builtIn.filter(({ group }) => group === hook);
  return arrangeListing({
    blocks: [
      ...at('prerouting'),
      addresses(input, rendered),
      ...at('input'),
      ...servers(wanted, rendered),
      ...at('forward'),
      ...at('output'),
      ...at('postrouting'),
      ...chains(input, rendered),
      ...SET_KEYS.map(set => setBlock(set, input, rendered)),
    ],
    rest: 'sets that no rule uses now',
  });
}

function addresses({ context: { family }, wanted }: ListingInput, rendered: readonly RenderedPlan[]): DraftBlock {
  const texts = new Map<string, ListedLine>();
  for (const { plan, elements } of rendered) {
    for (const { element } of elements) {
      if (element.kind !== 'hash:ip') continue;
      const text = addressText(family, element.ip);
      texts.set(text, { parts: [text], service: plan.service });
    }
  }
  return {
    id: `addresses of ${LINK}`,
    kind: 'addresses',
    name: LINK,
    group: 'routing',
    about: 'The addresses of Services. Because of them the kernel takes packets to Services as its own.',
    command: `ip ${family === 'IPv4' ? '-4' : '-6'} addr show dev ${LINK}`,
    lines: [...texts.values()],
    total: wanted.elementCount('ipvsIPs'),
  };
}

/** All virtual servers, and one block with the real servers of each. */
function servers(wanted: WantedObjects, rendered: readonly RenderedPlan[]): readonly DraftBlock[] {
  const own = rendered.flatMap(({ plan, servers }) =>
    servers.filter(({ id }) => isOwn(wanted, id, plan)).map(server => ({ plan, server })),
  );
  const all: DraftBlock = {
    id: 'virtual servers',
    kind: 'virtual servers',
    name: 'of ipvs',
    group: 'input',
    about: 'The addresses and ports of Services. The kernel sends each connection on to one of the real servers.',
    command: 'ipvsadm -L -n',
    lines: own.map(({ plan, server: { id, service } }) => ({
      parts: linkNames(printService('-A', service), [{ before: '-A ', name: id, block: serverId(id) }]),
      service: plan.service,
    })),
    total: wanted.serverCount,
  };
  return [all, ...own.map(({ plan, server }) => realServers(plan, server))];
}

function realServers(plan: ServicePortPlan, server: VirtualServer): DraftBlock {
  const { id, service, endpoints, weights } = server;
  return {
    id: serverId(id),
    kind: 'virtual server',
    name: id,
    about: 'The real servers of one virtual server: the endpoints that get its connections.',
    servicePort: planName(plan),
    command: `ipvsadm -L -n ${id}`,
    lines: endpoints.map(endpoint => {
      const { ip: address, port } = endpoint;
      const destination = { address, port, weight: weightOf(endpoint, weights) };
      return { parts: [printDestination('-a', service.key, destination)], service: plan.service };
    }),
  };
}

function serverId(id: string): string {
  return `virtual server ${id}`;
}

/** An external address of another Service may take the virtual server of a node port. */
function isOwn(wanted: WantedObjects, server: string, plan: ServicePortPlan): boolean {
  const owner = wanted.planOf(server);
  return owner === undefined || planId(owner) === planId(plan);
}

function chains({ rules: input }: ListingInput, rendered: readonly RenderedPlan[]): readonly DraftBlock[] {
  const ownDrops = new Map<string, ServicePortPlan>();
  for (const { plan, drops } of rendered) for (const drop of drops) ownDrops.set(dropKey(drop), plan);
  const own = input.drops.filter(drop => ownDrops.has(dropKey(drop)));
  const rules = rulesOf({ ...input, drops: own });
  const services = own.map(drop => ownDrops.get(dropKey(drop))?.service);
  return TABLES.flatMap(table =>
    CHAINS[table].map(chain => {
      const texts = rules[table].filter(rule => rule.chain === chain);
      const isOfDrops = chain === 'KUBE-IPVS-OUT-FILTER';
      return chainBlock(input.family, {
        table,
        chain,
        about: ABOUT_CHAINS[`${table} ${chain}`],
        // The chain of drops has no other rules.
        lines: texts.map(({ text }, i) => ruleLine(table, `-A ${chain} ${text}`, isOfDrops ? services[i] : undefined)),
        total: isOfDrops ? input.drops.length : texts.length,
      });
    }),
  );
}

function dropKey({ ip, protocol, port }: Drop): string {
  return `${ip} ${protocol} ${port}`;
}

function setBlock(
  set: SetKey,
  { context: { family }, wanted }: ListingInput,
  rendered: readonly RenderedPlan[],
): DraftBlock {
  const name = setName(set, family);
  const lines = new Map<string, ListedLine>();
  for (const { plan, elements } of rendered) {
    for (const { element } of elements.filter(one => one.set === set)) {
      const text = printElement(element);
      lines.set(text, { parts: [`add ${name} ${text}`], service: plan.service });
    }
  }
  return {
    id: setId(name),
    kind: 'set',
    name,
    about: ABOUT_SETS[set],
    head: printCreate(ipSet(set, family)),
    command: `ipset list ${name}`,
    lines: [...lines.values()],
    total: wanted.elementCount(set),
  };
}
