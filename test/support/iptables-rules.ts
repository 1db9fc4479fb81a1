import { spawnSync } from 'node:child_process';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

/** Chains in which the order of service ports means nothing. */
const SHARED = ['KUBE-SERVICES', 'KUBE-EXTERNAL-SERVICES', 'KUBE-NODEPORTS', 'KUBE-PROXY-FIREWALL'];
const PER_SERVICE = /^KUBE-(SVC|SVL|SEP|EXT|FW)-/;
const LAST_RULE = '--dst-type LOCAL -j KUBE-NODEPORTS';

interface SavedTable {
  readonly policies: Map<string, string>;
  readonly rules: Map<string, string[]>;
}

/** Runs a program in the namespace and returns what it printed; throws if it failed. */
export function runIn(namespace: NetworkNamespace, program: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = namespace.run(() => spawnSync(program, args, { encoding: 'utf8', input }));
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/**
 * The rules in a form that does not depend on chance: shared chains sorted, and without chains that nothing leads to any
 * more, which the recorded program removes only now and then.
 */
export function canonicalRules(namespace: NetworkNamespace, save: string): string {
  return rulesSortedBy(rule => rule, namespace, save);
}

/** The same, but the rules that one service port has in a shared chain stay in their order. */
export function rulesByServicePort(namespace: NetworkNamespace, save: string): string {
  return rulesSortedBy(servicePort, namespace, save);
}

type SortKey = (rule: string) => string;

function rulesSortedBy(key: SortKey, namespace: NetworkNamespace, save: string): string {
  const tables = [...parse(runIn(namespace, save, []))].sort(([a], [b]) => (a < b ? -1 : 1));
  return tables.map(([name, table]) => tableText(name, table, key)).join('');
}

/** Whose rule it is: the comment's first word is the name, which ports of several protocols may share. */
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
  const live = reachable(rules);
  const chains = [...policies.keys()].filter(chain => !PER_SERVICE.test(chain) || live.has(chain)).sort();
  const lines = [`*${name}`, ...chains.map(chain => `:${chain} ${policies.get(chain)}`)];
  for (const chain of chains) lines.push(...inOrder(chain, rules.get(chain) ?? [], key));
  return `${[...lines, 'COMMIT'].join('\n')}\n`;
}

/** Sorts the rules of a shared chain, but for the last. */
export function inOrder(chain: string, rules: readonly string[], key: SortKey): readonly string[] {
  if (!SHARED.includes(chain)) return rules;
  const isLast = (rule: string) => rule.includes(LAST_RULE);
  const byKey = (a: string, b: string) => (key(a) < key(b) ? -1 : Number(key(a) > key(b)));
  return [...rules.filter(rule => !isLast(rule)).sort(byKey), ...rules.filter(isLast)];
}

function reachable(rules: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const live = new Set<string>();
  const todo = [...rules.keys()].filter(chain => !PER_SERVICE.test(chain));
  for (let chain = todo.pop(); chain !== undefined; chain = todo.pop()) {
    if (live.has(chain)) continue;
    live.add(chain);
    for (const rule of rules.get(chain) ?? []) todo.push(...rule.split(' ').filter(word => word.startsWith('KUBE-')));
  }
  return live;
}
