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
  const tables = [...parse(runIn(namespace, save, []))].sort(([a], [b]) => (a < b ? -1 : 1));
  return tables.map(([name, table]) => tableText(name, table)).join('');
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

function tableText(name: string, { policies, rules }: SavedTable): string {
  const live = reachable(rules);
  const chains = [...policies.keys()].filter(chain => !PER_SERVICE.test(chain) || live.has(chain)).sort();
  const lines = [`*${name}`, ...chains.map(chain => `:${chain} ${policies.get(chain)}`)];
  for (const chain of chains) lines.push(...inOrder(chain, rules.get(chain) ?? []));
  return `${[...lines, 'COMMIT'].join('\n')}\n`;
}

function inOrder(chain: string, rules: readonly string[]): readonly string[] {
  if (!SHARED.includes(chain)) return rules;
  const isLast = (rule: string) => rule.includes(LAST_RULE);
  return [...rules.filter(rule => !isLast(rule)).sort(), ...rules.filter(isLast)];
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
