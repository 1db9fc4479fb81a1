import { KernelError } from '../../kernel/errors.ts';
import { type Element, IpsetSocket, printElement } from '../../kernel/ipset/index.ts';
import { Iptables, otherBackend, parseSave, programOfBackend, type SavedChains } from '../../kernel/iptables/index.ts';
import { IpvsSocket, keyFamily } from '../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import { iptablesFamily } from '../iptables-words.ts';
import { DEVICE } from './device.ts';
import { isOwn } from './ownership.ts';
import { CHAINS, JUMPS, jumpRule, TABLES, type Table } from './rules.ts';
import { SET_KEYS, type SetKey, setName } from './sets.ts';

export interface CleanupOptions {
  readonly namespace?: NetworkNamespace | undefined;
  /** Leaves chains that iptables mode has too, and the jumps to them, for they are its own by now. */
  readonly keepSharedChains?: boolean;
}

/** Removes all that the mode made, in both families, and nothing else: virtual servers of other programs stay. */
export async function cleanupIpvs(options: CleanupOptions = {}): Promise<Cleanup> {
  const { namespace } = options;
  const report = new CleanupReport();
  const sets = readSets(namespace);
  const addresses = readAddresses(namespace);
  for (const family of FAMILIES) {
    await report.attempt(async () => removeServers(family, { sets, addresses }, namespace));
    await removeRules(family, options, report);
  }
  // By the link others see that there is something to remove. A set that somebody uses does no harm.
  const isHarmless = report.errors.length === 0;
  await report.attempt(() => removeSets(sets, namespace));
  if (isHarmless) await report.attempt(async () => removeDevice(namespace));
  return report;
}

/** Whether the mode ran on this machine and was not cleaned up: it never runs without its link. */
export function hasIpvsLeftovers(namespace?: NetworkNamespace): boolean {
  const socket = RouteSocket.open({ namespace });
  try {
    return socket.link(DEVICE) !== undefined;
  } finally {
    socket.close();
  }
}

/** Texts of elements, by name of the set. */
type Sets = ReadonlyMap<string, ReadonlySet<string>>;

interface Found {
  readonly sets: Sets;
  readonly addresses: ReadonlySet<string>;
}

function readSets(namespace: NetworkNamespace | undefined): Sets {
  const socket = orNothing(() => IpsetSocket.open({ namespace }));
  if (!socket) return new Map();
  try {
    const ours = new Set(FAMILIES.flatMap(family => SET_KEYS.map(key => setName(key, family))));
    const names = [...socket.names()].filter(name => ours.has(name));
    return new Map(names.map(name => [name, new Set([...socket.entries(name)].map(printElement))]));
  } finally {
    socket.close();
  }
}

function readAddresses(namespace: NetworkNamespace | undefined): ReadonlySet<string> {
  const socket = RouteSocket.open({ namespace });
  try {
    const link = socket.link(DEVICE);
    return new Set(link ? socket.addresses({ link }).map(({ ip }) => ip) : []);
  } finally {
    socket.close();
  }
}

function removeServers(
  family: Family,
  { sets, addresses }: Found,
  namespace: NetworkNamespace | undefined,
): string | undefined {
  const socket = IpvsSocket.open({ namespace });
  const found = {
    hasElement: (set: SetKey, element: Element) => sets.get(setName(set, family))?.has(printElement(element)) ?? false,
    hasAddress: (ip: string) => addresses.has(ip),
  };
  try {
    const listed = orNothing(() => socket.services()) ?? [];
    const own = listed.filter(({ key }) => keyFamily(key) === family && isOwn(key, found, []));
    for (const { key } of own) socket.deleteService(key);
    return own.length > 0 ? `${own.length} ${family} virtual servers` : undefined;
  } finally {
    socket.close();
  }
}

/** Chains that no other mode has. Without any of them there are no rules of ours. */
const ONLY_OURS: readonly string[] = [
  'KUBE-NODE-PORT',
  'KUBE-LOAD-BALANCER',
  'KUBE-SOURCE-RANGES-FIREWALL',
  'KUBE-IPVS-FILTER',
  'KUBE-IPVS-OUT-FILTER',
];
/** A jump to a shared chain that iptables mode words otherwise. */
const OWN_COMMENT = 'kube-proxy firewall rules';

/** In both backends: a proxy that ran before may have found another one than we do. */
async function removeRules(
  family: Family,
  { namespace, keepSharedChains = false }: CleanupOptions,
  report: CleanupReport,
): Promise<void> {
  const name = iptablesFamily(family);
  const iptables = await Iptables.open(name, { namespace });
  const program = programOfBackend(name, otherBackend(iptables.backend));
  const other = await Iptables.open(name, { namespace, program });
  await report.attempt(() => removeRulesOf(iptables, family, keepSharedChains));
  // A mode that shares chains with this one writes to the first backend only.
  await report.attempt(() => removeRulesOf(other, family, false));
}

async function removeRulesOf(
  iptables: Iptables,
  family: Family,
  keepSharedChains: boolean,
): Promise<string | undefined> {
  const tables = parseSave(await iptables.save().catch(() => ''));
  if (!TABLES.some(table => ONLY_OURS.some(chain => tables.get(table)?.has(chain)))) return undefined;
  const removed = TABLES.map(table => removal(table, tables.get(table) ?? new Map(), keepSharedChains));
  await iptables.restore(removed.map(({ text }) => text).join(''));
  return `${removed.reduce((sum, { chains }) => sum + chains, 0)} ${family} chains`;
}

/** Text that removes our chains of a table and what jumps to them. Chains that others jump to are others' too. */
function removal(
  table: Table,
  present: SavedChains,
  keepShared: boolean,
): { readonly text: string; readonly chains: number } {
  const isOurs = (chain: string) => !keepShared || ONLY_OURS.includes(chain);
  const own = CHAINS[table].filter(chain => present.has(chain) && isOurs(chain));
  const obsolete = JUMPS.filter(({ to, comment }) => isOurs(to) || comment === OWN_COMMENT);
  const jumps = obsolete
    .filter(jump => jump.table === table)
    .flatMap(jump => {
      const text = jumpRule(jump);
      const rules = present.get(jump.from)?.rules.filter(rule => rule.text === text) ?? [];
      return rules.map(() => ({ from: jump.from, text }));
    });
  const isJump = (from: string, text: string) => jumps.some(jump => jump.from === from && jump.text === text);
  const others = [...present.values()]
    .filter(({ name }) => !own.includes(name))
    .flatMap(({ name, rules }) => rules.filter(({ text }) => !isJump(name, text)))
    .map(({ text }) => ` ${text} `);
  const free = own.filter(chain => !others.some(text => text.includes(` ${chain} `)));
  const lines = [
    `*${table}`,
    ...free.map(chain => `:${chain} - [0:0]`),
    ...jumps.map(({ from, text }) => `-D ${from} ${text}`),
    ...free.map(chain => `-X ${chain}`),
    'COMMIT',
  ];
  return { text: `${lines.join('\n')}\n`, chains: free.length };
}

function removeDevice(namespace: NetworkNamespace | undefined): string | undefined {
  const socket = RouteSocket.open({ namespace });
  try {
    const link = socket.link(DEVICE);
    if (!link) return undefined;
    if (link.kind !== 'dummy') {
      const kernelMessage = `it is of kind ${link.kind}, not dummy`;
      throw new KernelError('KERNEL_REFUSED', { operation: `ip link del ${DEVICE}`, kernelMessage });
    }
    socket.deleteLink(link);
    return `link ${DEVICE}`;
  } finally {
    socket.close();
  }
}

async function removeSets(sets: Sets, namespace: NetworkNamespace | undefined): Promise<string | undefined> {
  if (sets.size === 0) return undefined;
  const socket = IpsetSocket.open({ namespace });
  try {
    const commands = [...sets.keys()].map(name => ({ kind: 'destroy', name }) as const);
    const [refused] = await socket.restore(commands, { exist: true });
    if (refused) throw refused.error;
    return `${sets.size} ${sets.size === 1 ? 'set' : 'sets'}`;
  } finally {
    socket.close();
  }
}

/** A kernel without ipvs or ipset has nothing of ours. */
function orNothing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof KernelError) return undefined;
    throw error;
  }
}
