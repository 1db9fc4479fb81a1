import { KernelError } from '../../kernel/errors.ts';
import { quoteRule, type SavedTables } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { NfacctSocket } from '../../kernel/nfacct/index.ts';
import type { PreviewInput } from '../descriptor.ts';
import { listAsSaved, listRules } from '../iptables-listing.ts';
import { openIptables } from '../iptables-programs.ts';
import { CANARY_TABLES } from './chains/jumps-and-canaries.ts';
import { addRemovals, inDeletionOrder } from './chains/stale-chains.ts';
import { hasLocalhostNodePorts, isTcpLiberal } from './machine/sysctls.ts';
import type { IptablesOptions } from './mode.ts';
import { Chain, isOwnChain } from './names.ts';
import { fullText, fullTextParts } from './render.ts';
import { JUMPS, SHARED_CHAINS, type Table } from './rules/fixed-rules.ts';
import { chainOfRule, RestoreText } from './rules/restore-text.ts';
import { COUNTER_NAMES, type CounterName, type MachineOptions, ruleOptions } from './rules/rule-options.ts';
import { isLargeCluster } from './writer.ts';

/** The input of iptables-restore that a full write would use. */
export async function previewIptables(options: IptablesOptions, input: PreviewInput): Promise<string> {
  const { family, against } = input;
  const text = against === 'nothing' ? wantedText(options, input, CAPABLE_MACHINE) : await missingText(options, input);
  if (text.isEmpty) return '';
  const program = family === 'IPv4' ? 'iptables-restore' : 'ip6tables-restore';
  return `# ${program} --noflush --counters\n${text}`;
}

type MachineFeatures = Omit<MachineOptions, 'localhostNodePorts' | 'keepsNodeSourcePorts'>;

/** A machine that has everything that the mode can use. */
const CAPABLE_MACHINE: MachineFeatures = {
  tcpLiberal: false,
  randomFully: true,
  keepsTurns: true,
  counters: new Set(COUNTER_NAMES),
};

function optionsFor(options: IptablesOptions, input: PreviewInput, features: MachineFeatures) {
  const { localhostNodePorts = true, keepNodeSourcePorts = false } = options;
  const { family, settings } = input;
  return ruleOptions(family, settings, {
    ...features,
    keepsNodeSourcePorts: keepNodeSourcePorts,
    localhostNodePorts: hasLocalhostNodePorts(family, localhostNodePorts, settings.nodePortAddresses),
  });
}

function wantedText(options: IptablesOptions, input: PreviewInput, features: MachineFeatures): RestoreText {
  return fullText(input.plans, optionsFor(options, input, features), hasComments(input));
}

function hasComments({ settings }: PreviewInput): boolean {
  return !isLargeCluster(settings.endpointCount?.() ?? 0);
}

/** What would bring the kernel to the plans. */
async function missingText(options: IptablesOptions, input: PreviewInput): Promise<RestoreText> {
  const { family, plans } = input;
  const features = await featuresOf(input);
  const rules = optionsFor(options, input, features);
  const parts = [...fullTextParts(plans, rules, hasComments(input))].map(({ text }) => text);
  const wanted = await listAsSaved(family, parts, input, scratch => makeCounters(scratch, features.counters));
  const present = await listRules(family, input);
  const text = new RestoreText();
  addMissingJumps(text, present);
  const written = wantedText(options, input, features);
  for (const table of ['filter', 'nat'] as const) {
    for (const chain of written.table(table).chains) {
      if (isSame(table, chain, wanted, present)) continue;
      text.table(table).chain(chain);
      text.table(table).addRules(written.table(table).rules.filter(rule => chainOfRule(rule) === chain));
    }
  }
  const known = new Set(written.table('nat').chains);
  const stale = [...(present.get('nat')?.keys() ?? [])].filter(chain => isOwnChain(chain) && !known.has(chain));
  addRemovals(text.table('nat'), inDeletionOrder(stale));
  return text;
}

function addMissingJumps(text: RestoreText, present: SavedTables): void {
  for (const table of CANARY_TABLES) {
    if (!present.get(table)?.has(Chain.CANARY)) text.table(table).chain(Chain.CANARY);
  }
  for (const { table, from, to, rule } of JUMPS) {
    const words = quoteRule(rule);
    const rules = present.get(table)?.get(from)?.rules ?? [];
    if (!rules.some(saved => saved.text === words)) text.table(table).rule(`-I ${from} ${words}`);
    if (!present.get(table)?.has(to) && to === Chain.FIREWALL) text.table(table).chain(to);
  }
}

/** In a shared chain only the order of the rules of one service port matters, so the rules are compared sorted. */
function isSame(table: Table, chain: string, wanted: SavedTables, present: SavedTables): boolean {
  const rulesOf = (tables: SavedTables) => {
    const rules = tables
      .get(table)
      ?.get(chain)
      ?.rules.map(({ text }) => text);
    return SHARED_CHAINS[table].includes(chain) ? rules?.toSorted() : rules;
  };
  return JSON.stringify(rulesOf(wanted)) === JSON.stringify(rulesOf(present));
}

async function featuresOf({ family, namespace, programs }: PreviewInput): Promise<MachineFeatures> {
  const { features, backend } = await openIptables(family, { ...programs, namespace });
  return {
    tcpLiberal: isTcpLiberal(namespace),
    randomFully: features.randomFully,
    keepsTurns: backend === 'nf_tables',
    counters: existingCounters(namespace),
  };
}

function existingCounters(namespace: NetworkNamespace | undefined): ReadonlySet<CounterName> {
  try {
    const socket = NfacctSocket.open({ namespace });
    try {
      return new Set(COUNTER_NAMES.filter(name => socket.get(name) !== undefined));
    } finally {
      socket.close();
    }
  } catch (error) {
    if (error instanceof KernelError) return new Set();
    throw error;
  }
}

function makeCounters(namespace: NetworkNamespace, names: ReadonlySet<CounterName>): void {
  if (names.size === 0) return;
  const socket = NfacctSocket.open({ namespace });
  try {
    for (const name of names) socket.ensure(name);
  } finally {
    socket.close();
  }
}
