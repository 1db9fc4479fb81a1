import { printable } from '../../lib/printable.ts';
import type { Problem } from '../../lib/problem.ts';
import { isNodeIPKnown } from '../../model/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { modeSettings } from '../../proxy/index.ts';
import { type LoadedFacts, machineIPs } from '../facts/index.ts';
import { styleFor } from '../style.ts';
import { problemText } from './text.ts';

/** What the mode would write, in the words of the tools of the kernel; empty if nothing. */
export async function rulesText(facts: LoadedFacts, against: 'nothing' | 'kernel'): Promise<string> {
  const { state, mode } = facts;
  const texts: string[] = [];
  for (const family of FAMILIES) {
    const settings =
      against === 'kernel'
        ? modeSettings(state, family, { ...facts.live, interfaceIPs: machineIPs })
        : facts.settings(family);
    const plans = [...state.family(family).planner.plans()];
    texts.push(await mode.preview({ family, plans, settings, against }));
  }
  return texts.filter(text => text !== '').join('\n');
}

/** Comparing the kernel of one machine with the plan of another would find differences that mean nothing. */
export function wrongMachineNotes({ state, nodeName }: LoadedFacts): readonly string[] {
  const { nodeIPs } = state.nodeOptions;
  const known = FAMILIES.filter(family => isNodeIPKnown(nodeIPs, family)).map(family => nodeIPs[family]);
  const own = new Set(machineIPs());
  if (known.length === 0 || known.some(ip => own.has(ip))) return [];
  return [`this machine has no address of Node ${nodeName} (${known.join(', ')}): is it the right machine?`];
}

export function notesText(notes: readonly string[]): string {
  return notes.map(note => `! ${printable(note)}\n`).join('');
}

export function problemsText(problems: readonly Problem[]): string {
  return problems.map(problem => `${problemText(problem, styleFor({}, {})).trim()}\n`).join('');
}
