import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Violation } from './violation.ts';

const INVARIANT = 'nothing is left behind';

/** What a run must leave as it found it. */
export interface MachineState {
  /** The rules and links of the machine's own network. */
  readonly network: string;
  readonly children: string;
  /** How many network namespaces this process holds open. */
  readonly namespaces: number;
}

export function machineState(): MachineState {
  const output = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' }).stdout ?? '';
  return {
    network: output('nft', 'list', 'ruleset') + output('ip', '-o', '-br', 'address'),
    children: readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim(),
    namespaces: openNamespaces(),
  };
}

export function judgeLeftovers(
  before: MachineState,
  after: MachineState,
  folders: readonly string[],
): readonly Violation[] {
  const problems: string[] = [];
  if (after.network !== before.network) problems.push(`the machine's own network changed:\n${after.network}`);
  if (after.children !== before.children) problems.push(`processes are left: ${after.children}`);
  if (after.namespaces > before.namespaces) problems.push(`${after.namespaces} network namespaces are open`);
  for (const folder of folders) if (existsSync(folder)) problems.push(`the folder ${folder} is left`);
  return problems.map(facts => ({ invariant: INVARIANT, facts }));
}

/** After `kube-proxy cleanup` the node has no rule and no pin of the proxy. */
export function judgeCleanup(state: string): readonly Violation[] {
  const left = state.split('\n').filter(line => /kube-proxy|KUBE-|pointsman/.test(line));
  return left.length === 0 ? [] : [{ invariant: INVARIANT, facts: `after cleanup: ${left.slice(0, 10).join('\n')}` }];
}

function openNamespaces(): number {
  const links = readdirSync('/proc/self/fd').map(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return links.filter(link => link.startsWith('net:[')).length;
}
