import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { runIn } from './run-in.ts';

/** Chains with rules of many service ports, whose order does not matter. */
const SHARED = ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-NODEPORTS', 'KUBE-PROXY-FIREWALL'];
const PER_SERVICE = /^KUBE-(SVC|SVL|SEP|EXT|FW)-/;
const LAST_RULE = '--dst-type LOCAL -j KUBE-NODEPORTS';

interface SavedTable {
  readonly policies: Map<string, string>;
  readonly rules: Map<string, string[]>;
}

/**
 * The rules in a form that is always the same: shared chains are sorted, and chains that no rule jumps to are left out.
 * The real kube-proxy removes such chains only now and then.
 */
export function canonicalRules(namespace: NetworkNamespace, save: string): string {
  return rulesSortedBy(rule => rule, namespace, save);
}

/** As `canonicalRules`, but the rules of one service port stay in their order in a shared chain. */
export function rulesByServicePort(namespace: NetworkNamespace, save: string): string {
  return rulesSortedBy(servicePort, namespace, save);
}

type SortKey = (rule: string) => string;

function rulesSortedBy(key: SortKey, namespace: NetworkNamespace, save: string): string {
  const tables = [...parse(runIn(namespace, save))].sort(([a], [b]) => (a < b ? -1 : 1));
  return tables.map(([name, table]) => tableText(name, table, key)).join('');
}

/** The service port of a rule: the first word of its comment, and the protocol, because ports may share a name. */
export function servicePort(rule: string): string {
  const [, name] = /--comment "?([^\s"]+)/.exec(rule) ?? [];
  const [, protocol] = / -p (\S+)/.exec(rule) ?? [];
  return `${name} ${protocol}`;
}

function parse(text: string): ReadonlyMap<string, SavedTable> {
  const tables = new Map<string, SavedTable>();
  let table: SavedTable | undefined;
  for (const line of text.split('\n')) {
    const [first = '', second = ''] = line.split(' ');
    if (line.startsWith('*')) {
      table = { policies: new Map(), rules: new Map() };
      tables.set(line.slice(1), table);
    } else if (line.startsWith(':')) {
      table?.policies.set(first.slice(1), second);
      table?.rules.set(first.slice(1), []);
    } else if (first === '-A') table?.rules.get(second)?.push(line);
  }
  return tables;
}

function tableText(name: string, { policies, rules }: SavedTable, key: SortKey): string {
  const live = reachableChains(rules);
  const chains = [...policies.keys()].filter(chain => !PER_SERVICE.test(chain) || live.has(chain)).sort();
  const lines = [`*${name}`, ...chains.map(chain => `:${chain} ${policies.get(chain)}`)];
  for (const chain of chains) lines.push(...inOrder(chain, rules.get(chain) ?? [], key));
  return `${[...lines, 'COMMIT'].join('\n')}\n`;
}

/** Sorts the rules of a shared chain. The last rule stays the last. */
export function inOrder(chain: string, rules: readonly string[], key: SortKey): readonly string[] {
  if (!SHARED.includes(chain)) return rules;
  const isLast = (rule: string) => rule.includes(LAST_RULE);
  const byKey = (a: string, b: string) => (key(a) < key(b) ? -1 : Number(key(a) > key(b)));
  return [...rules.filter(rule => !isLast(rule)).sort(byKey), ...rules.filter(isLast)];
}

function reachableChains(rules: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const live = new Set<string>();
  const todo = [...rules.keys()].filter(chain => !PER_SERVICE.test(chain));
  for (let chain = todo.pop(); chain !== undefined; chain = todo.pop()) {
    if (live.has(chain)) continue;
    live.add(chain);
    for (const rule of rules.get(chain) ?? []) todo.push(...rule.split(' ').filter(word => word.startsWith('KUBE-')));
  }
  return live;
}
