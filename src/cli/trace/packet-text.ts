import { printable, printableLines } from '../../lib/printable.ts';
import { type RuleStep, resultOf, type TracedPacket, type TraceStep } from '../../trace/index.ts';
import type { Style } from '../style.ts';

/** The way of one packet as lines, and its summary at the end. */
export function packetText(packet: TracedPacket, number: number, style: Style): string {
  const { first, protocol, tcpFlags, inInterface, flow } = packet;
  const came = inInterface === undefined ? 'sent by this node' : `came in through ${inInterface}`;
  const flags = tcpFlags ? ` ${tcpFlags}` : '';
  const head = `#${number} ${first.source} → ${first.destination} ${protocol}${flags}, ${came}`;
  const lines = [
    style.bold(printable(head)),
    ...packet.steps.flatMap((step, i) => stepLines(step, lastMark(packet.steps.slice(0, i)), style)),
    ...(flow === undefined ? [] : [style.dim(`  conntrack: ${printable(flow.replaceAll(/ +/g, ' '))}`)]),
    `  ${paint(packet, style)(printable(`= ${resultOf(packet)}`))}`,
    ...(packet.outcome.kind === 'lost' ? [printableLines(lostHint(packet))] : []),
  ];
  return `${lines.join('\n')}\n`;
}

function paint({ outcome }: TracedPacket, style: Style): (text: string) => string {
  switch (outcome.kind) {
    case 'left':
    case 'delivered':
      return style.green;
    case 'dropped':
    case 'rejected':
      return style.red;
    case 'lost':
      return style.yellow;
  }
}

function lostHint({ last }: TracedPacket): string {
  const [address] = last.destination.replaceAll(/[[\]]/g, '').split(/:(?=\d+$)/);
  return `  Look for a missing route (ip route get ${address}), a filter of reverse paths (sysctl net.ipv4.conf.all.rp_filter),
  rules of iptables-legacy (iptables-legacy-save), and eBPF programs.`;
}

/** The packet's mark after the steps. */
function lastMark(steps: readonly TraceStep[]): number {
  return steps.flatMap(step => (step.kind === 'chain' ? step.rules : [])).at(-1)?.mark ?? 0;
}

function stepLines(step: TraceStep, mark: number, style: Style): readonly string[] {
  if (step.kind === 'rewrite') return rewriteLines(step.from, step.to).map(line => style.cyan(printable(line)));
  const { hook = 'unknown hook', priority, table, chain, outInterface, rules } = step;
  const out = outInterface === undefined ? '' : `, to ${outInterface}`;
  const place = `  ${hook.padEnd(11)} ${String(priority ?? '').padStart(4)}  table ${table}, chain ${chain}${out}`;
  return [printable(place), ...rules.flatMap((rule, i) => ruleLines(rule, chain, rules[i - 1]?.mark ?? mark, style))];
}

interface Ends {
  readonly source: string;
  readonly destination: string;
}

function rewriteLines(from: Ends, to: Ends): readonly string[] {
  return [
    ...(from.destination === to.destination ? [] : [`      destination ${from.destination} becomes ${to.destination}`]),
    ...(from.source === to.source ? [] : [`      source ${from.source} becomes ${to.source}`]),
  ];
}

function ruleLines(rule: RuleStep, baseChain: string, markBefore: number, style: Style): readonly string[] {
  const { chain, position, text, verdict, elements, services } = rule;
  const place = chain === baseChain ? '' : `${chain} `;
  const head = rule.kind === 'policy' ? text : `${place}${position === undefined ? 'rule ' : `${position}: `}${text}`;
  const result = endsWithVerdict(text, verdict) || verdict === 'continue' ? '' : ` → ${verdict}`;
  const names = services.length === 0 ? '' : `  [${services.join(', ')}]`;
  const mark = rule.mark === markBefore ? '' : ` (mark is now 0x${rule.mark.toString(16)})`;
  const colour = verdict === 'drop' ? style.red : (plain: string) => plain;
  return [
    `      ${colour(printable(`${head}${result}${mark}`))}${style.bold(printable(names))}`,
    ...elements.map(element => style.dim(printable(`          found ${element}`))),
  ];
}

/** Most rules end with their verdict: `jump services`, `-j DROP`. For maps, only the kernel knows it. */
function endsWithVerdict(text: string, verdict: string): boolean {
  const lastWord = (words: string) => words.split(' ').at(-1)?.toLowerCase();
  return lastWord(text) === lastWord(verdict);
}
