import { release } from 'node:os';
import { KernelError } from '../../kernel/errors.ts';
import { printElement } from '../../kernel/ipset/index.ts';
import type { Iptables } from '../../kernel/iptables/index.ts';
import { readPersistence } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { appendTo } from '../../lib/append-to.ts';
import { type Ip, joinHostPort } from '../../net/index.ts';
import { planId, type ServicePortPlan } from '../../plan/index.ts';
import { readChains, type WantedChain } from '../iptables-read-back.ts';
import {
  type KernelEntry,
  type KernelReading,
  MAX_PINNED_CLIENTS,
  type PinnedClient,
  ReadBudget,
  sysctlEntry,
} from '../read-back.ts';
import { readAddresses, readElements, readServers } from './kernel-state/read-objects.ts';
import { openSockets } from './kernel-state/sockets.ts';
import { CHAINS, TABLES } from './names.ts';
import { type RenderContext, render } from './render.ts';
import { JUMPS, type Jump, jumpRule } from './rules/jumps.ts';
import { type RuleInput, rulesOf } from './rules/rule-text.ts';
import { ipvsSysctls } from './settings/sysctls.ts';
import type { VirtualServer } from './wanted/virtual-server.ts';
import type { WantedObjects } from './wanted/wanted-objects.ts';

export interface ReadBackInput {
  readonly plan: ServicePortPlan;
  readonly context: RenderContext;
  /** What all service ports want together. */
  readonly wanted: WantedObjects;
  readonly rules: RuleInput;
  readonly iptables: Iptables;
  readonly strictARP: boolean;
  readonly namespace: NetworkNamespace | undefined;
}

/** How much of the kernel's list of connections is read for session affinity. */
const MAX_CONNECTION_BYTES = 1 << 20;

/** Reads what the kernel has for one service port. It opens sockets of its own, so no sync waits for it. */
export async function readBackIpvs(input: ReadBackInput): Promise<KernelReading> {
  const { plan, context, wanted, namespace } = input;
  const { family } = context;
  const rendered = render(context, plan);
  const servers = rendered.servers.filter(({ id }) => isOwn(id, input));
  const ips = new Map(plan.frontends.flatMap(({ ip }) => (ip ? [[ip, needsAddress(wanted, ip)]] : [])));
  const isWanted = (set: Parameters<WantedObjects['element']>[0], element: Parameters<typeof printElement>[0]) =>
    wanted.element(set, printElement(element)) !== undefined;
  const budget = new ReadBudget();
  const sockets = openSockets(namespace);
  try {
    const objects = [
      ...(await readServers(sockets.ipvs, servers, budget)),
      ...(await readElements(sockets.ipset, { family, plan, elements: rendered.elements, isWanted }, budget)),
      ...(await readAddresses(sockets.route, family, ips)),
    ];
    const chains = await readChains(input.iptables, wantedChains(input.rules));
    const affinity = pinnedClients(input, servers);
    return {
      entries: [...objects, ...chains.entries, ...sysctls(input)],
      affinity: affinity.clients,
      incomplete: budget.spent ?? chains.incomplete ?? affinity.incomplete,
    };
  } finally {
    sockets.close();
  }
}

/** An external address of another Service may take the virtual server of a node port. */
function isOwn(server: string, { wanted, plan }: ReadBackInput): boolean {
  const owner = wanted.planOf(server);
  return owner === undefined || planId(owner) === planId(plan);
}

function needsAddress(wanted: WantedObjects, ip: Ip): boolean {
  return wanted.element('ipvsIPs', ip) !== undefined;
}

function wantedChains(input: RuleInput): readonly WantedChain[] {
  const rules = rulesOf(input);
  const own = TABLES.flatMap(table =>
    CHAINS[table].map((chain): WantedChain => {
      const texts = rules[table].filter(rule => rule.chain === chain).map(({ text }) => text);
      return { table, chain, rules: texts, others: 'own' };
    }),
  );
  const jumps = new Map<string, Jump[]>();
  for (const jump of JUMPS) appendTo(jumps, `${jump.table} ${jump.from}`, jump);
  const builtIn = [...jumps.values()].flatMap((list): WantedChain[] => {
    const [first] = list;
    return first ? [{ table: first.table, chain: first.from, rules: list.map(jumpRule), others: 'built-in' }] : [];
  });
  return [...builtIn, ...own];
}

function sysctls({ strictARP, namespace }: ReadBackInput): readonly KernelEntry[] {
  const wanted = ipvsSysctls({ strictARP, kernel: release() });
  return wanted.map(({ name, value }) => sysctlEntry(name, `${value}`, namespace));
}

/** Without the right to read the list, the entries of the reading are still right. */
function persistence(namespace: NetworkNamespace | undefined): ReturnType<typeof readPersistence> {
  try {
    return readPersistence(MAX_CONNECTION_BYTES, namespace);
  } catch (error) {
    if (error instanceof KernelError) return { clients: [], isCut: true };
    throw error;
  }
}

function pinnedClients(
  { plan, namespace }: ReadBackInput,
  servers: readonly VirtualServer[],
): { readonly clients: readonly PinnedClient[]; readonly incomplete: string | undefined } {
  const { affinitySeconds, protocol } = plan.port;
  if (affinitySeconds === 0) return { clients: [], incomplete: undefined };
  const addresses = new Set(
    servers.map(({ service: { key } }) => (key.kind === 'address' ? joinHostPort(key.address, key.port) : '')),
  );
  const { clients, isCut } = persistence(namespace);
  const own = clients
    .filter(client => client.protocol === protocol && addresses.has(joinHostPort(client.address, client.port)))
    .map(({ client, server, serverPort, secondsLeft }) => {
      return { client, endpoint: joinHostPort(server, serverPort), secondsLeft };
    });
  if (own.length > MAX_PINNED_CLIENTS || isCut) {
    const incomplete = `the mode read only ${Math.min(own.length, MAX_PINNED_CLIENTS)} pinned clients`;
    return { clients: own.slice(0, MAX_PINNED_CLIENTS), incomplete };
  }
  return { clients: own, incomplete: undefined };
}
