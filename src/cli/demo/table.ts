import { type Callers, PLACES, type PortInfo, type RowResults } from '../../demo/index.ts';
import { printable } from '../../lib/printable.ts';
import { formatCidr } from '../../net/index.ts';
import type { Style } from '../style.ts';
import { columns, NO_BREAK, pad, truncate, visibleLength, wrap } from '../terminal-text.ts';
import { addressText, type ResultFormat, resultText } from './result-text.ts';
import type { Picture } from './screen.ts';
import { counted, isTested, summaryOf, summaryText } from './summary.ts';

/** The data of a table. */
export interface View {
  readonly manifests: string;
  /** The name of the mode. */
  readonly mode: string;
  readonly rows: readonly RowResults[];
  readonly callers: Callers;
  readonly problems: readonly string[];
  /** How the operator ends the demo. Empty if it has ended. */
  readonly howToEnd: string;
  readonly pageUrl?: string | undefined;
}

/** Returns the table. No line is longer than the width. */
export function tablePicture(view: View, style: Style, width: number): Picture {
  const { rows, problems, manifests, howToEnd, callers, pageUrl } = view;
  const page = pageUrl === undefined ? '' : `Page: ${style.cyan(pageUrl)}  `;
  const edit = howToEnd === '' ? '' : `Edit ${manifests} to see changes. ${howToEnd} ends. `;
  const [titles = '', ...body] = bodyLines(rows, callers, style, width);
  const cut = (lines: readonly string[]) => lines.map(line => truncate(line, width));
  return {
    fixed: cut([
      header(view, style, width),
      page + style.dim(`${edit}as node: endpoints see the node's address.`),
      titles,
    ]),
    scrolled: cut([...problems.flatMap(problem => hanging('! ', printable(problem), width, style.red)), ...body]),
  };
}

/** Wraps a text. All lines but the first are indented by the width of the mark. */
function hanging(mark: string, text: string, width: number, paint: (text: string) => string): readonly string[] {
  const lines = wrap(text, width - mark.length);
  return lines.map((line, i) => paint(`${i === 0 ? mark : ' '.repeat(mark.length)}${line}`));
}

function header({ manifests, mode, rows, problems }: View, style: Style, width: number): string {
  const summary = summaryOf(rows, problems);
  const left = `${style.bold('Pointsman')}  ${mode} mode, ${counted(summary.services, 'Service')} of ${manifests}`;
  const text = summaryText(summary);
  const paint = summary.mismatches > 0 ? style.red : summary.problems > 0 ? style.yellow : style.green;
  const right = paint(text);
  const leftWidth = width - visibleLength(right) - 2;
  return `${pad(truncate(left, leftWidth), leftWidth)}  ${right}`;
}

/** The titles first. Leaves out the kinds of addresses and the percent signs if the terminal is narrow. */
function bodyLines(rows: readonly RowResults[], callers: Callers, style: Style, width: number): readonly string[] {
  const titles = PLACES.map(place => style.bold(`${place} ${callers[place].IPv4}`));
  const wide = columns([['', '', ...titles], ...rows.map(row => rowCells(row, true, style))]);
  const fits = wide.slice(1).every(line => visibleLength(line) <= width);
  const lines = fits ? wide : columns([['', ...titles], ...rows.map(row => rowCells(row, false, style))]);
  const [title = '', ...others] = lines;
  return [title, ...rows.flatMap((_, i) => linesOfRow(rows, i, others[i] ?? '', style, width))];
}

function linesOfRow(
  rows: readonly RowResults[],
  i: number,
  line: string,
  style: Style,
  width: number,
): readonly string[] {
  const rowResults = rows[i];
  if (!rowResults) return [];
  const { port } = rowResults.row;
  const isFirst = rows[i - 1]?.row.port.plan !== port.plan;
  return [...(isFirst ? headingLines(port, style, width) : []), line, ...mismatchLines(rowResults, style, width)];
}

/** The endpoints of a heading explain the marks in the rows, so it is wrapped and never cut. */
function headingLines({ name, protocol, family, plan, used, unused }: PortInfo, style: Style, width: number) {
  const ranges = plan.port.loadBalancerSourceRanges.map(formatCidr);
  const traits = [
    family === 'IPv6' ? `${protocol} IPv6` : protocol,
    plan.port.internalPolicyLocal ? 'internal policy Local' : '',
    plan.port.externalPolicyLocal ? 'external policy Local' : '',
    plan.port.affinitySeconds > 0 ? 'ClientIP affinity' : '',
    ranges.length > 0 ? `balancer only from ${ranges.join(' ')}` : '',
  ];
  const endpoints = [
    ...used.map((endpoint, i) => `${style.cyan(endpointMark(i))}${NO_BREAK}${endpoint}`),
    ...unused.map(({ endpoint, reason }) => style.dim(`· ${endpoint} ${reason}`.replaceAll(' ', NO_BREAK))),
  ];
  const text = `${style.bold(name)} ${style.dim(traits.filter(Boolean).join(', '))}`;
  const list = endpoints.length > 0 ? `→ ${endpoints.join('  ')}` : style.dim('→ no endpoints');
  return wrap(`${text} ${list}`, width - INDENT.length).map((line, i) => (i === 0 ? line : INDENT + line));
}

function rowCells(rowResults: RowResults, isWide: boolean, style: Style): readonly string[] {
  const { row, cells } = rowResults;
  const format: ResultFormat = {
    endpoint: endpoint => {
      const index = row.port.used.indexOf(endpoint);
      return style.cyan(index < 0 ? `${endpoint} ` : endpointMark(index));
    },
    share: share => style.green(isWide ? share : share.replace('%', '')),
    seenAs: style.dim,
    failure: style.yellow,
    separator: ' ',
  };
  const results = cells.map(cell => {
    const text = resultText(rowResults, cell, format);
    return cell.mismatch === undefined ? text : `${style.red('✗')} ${text}`;
  });
  const address = `${statusMark(rowResults, style)} ${addressText(rowResults)}`;
  return isWide ? [address, style.dim(row.frontend.kind), ...results] : [address, ...results];
}

function statusMark(rowResults: RowResults, style: Style): string {
  const { cells } = rowResults;
  if (cells.some(({ mismatch }) => mismatch !== undefined)) return style.red('✗');
  if (!isTested(rowResults)) return style.dim('·');
  return cells.every(({ isConclusive }) => isConclusive) ? style.green('✓') : style.dim('…');
}

function mismatchLines({ cells }: RowResults, style: Style, width: number): readonly string[] {
  return cells.flatMap(({ place, mismatch }) =>
    mismatch === undefined ? [] : hanging('   ✗ ', `${place}: ${mismatch}`, width, style.red),
  );
}

const INDENT = '    ';

const FIRST_CIRCLED = 0x2460;
const MAX_CIRCLED = 20;

/** ①, ②, … */
function endpointMark(index: number): string {
  return index < MAX_CIRCLED ? String.fromCodePoint(FIRST_CIRCLED + index) : `(${index + 1})`;
}
