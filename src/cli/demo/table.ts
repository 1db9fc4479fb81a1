import { callerFrom, PLACES, type PortInfo, type RowResults } from '../../demo/index.ts';
import { printable } from '../../lib/printable.ts';
import { DEFAULT_MODE } from '../../modes/index.ts';
import { formatCidr } from '../../net/index.ts';
import type { Style } from '../style.ts';
import { columns, pad, truncate, visibleLength } from '../terminal-text.ts';
import { addressText, type ResultFormat, resultText } from './result-text.ts';
import { counted, isTested, summaryOf, summaryText } from './summary.ts';

/** The data of a table. */
export interface View {
  readonly manifests: string;
  readonly rows: readonly RowResults[];
  readonly problems: readonly string[];
}

/** Returns the lines of the table. No line is longer than the width. */
export function tableLines({ manifests, rows, problems }: View, style: Style, width: number): readonly string[] {
  const lines = [
    header(manifests, rows, style, width),
    style.dim(`Edit ${manifests} to see changes. Ctrl-C ends. as node: endpoints see the node's address.`),
    ...problems.map(problem => style.red(`! ${printable(problem)}`)),
    ...body(rows, style, width),
  ];
  return lines.map(line => truncate(line, width));
}

function header(manifests: string, rows: readonly RowResults[], style: Style, width: number): string {
  const summary = summaryOf(rows);
  const mode = `${DEFAULT_MODE.descriptor.name} mode`;
  const left = `${style.bold('Pointsman')}  ${mode}, ${counted(summary.services, 'Service')} of ${manifests}`;
  const text = summaryText(summary);
  const right = summary.mismatches > 0 ? style.red(text) : style.green(text);
  const leftWidth = width - visibleLength(right) - 2;
  return `${pad(truncate(left, leftWidth), leftWidth)}  ${right}`;
}

/** Leaves out the kinds of addresses and the percent signs if the terminal is narrow. */
function body(rows: readonly RowResults[], style: Style, width: number): readonly string[] {
  const titles = PLACES.map(place => style.bold(`${place} ${callerFrom(place, 'IPv4').ip}`));
  const wide = columns([['', '', ...titles], ...rows.map(row => rowCells(row, true, style))]);
  const fits = wide.slice(1).every(line => visibleLength(line) <= width);
  const lines = fits ? wide : columns([['', ...titles], ...rows.map(row => rowCells(row, false, style))]);
  const [title = '', ...others] = lines;
  return [title, ...rows.flatMap((row, i) => linesOfRow(rows, i, others[i] ?? '', row, style))];
}

function linesOfRow(
  rows: readonly RowResults[],
  i: number,
  line: string,
  rowResults: RowResults,
  style: Style,
): readonly string[] {
  const { port } = rowResults.row;
  const isFirst = rows[i - 1]?.row.port.plan !== port.plan;
  return [...(isFirst ? [heading(port, style)] : []), line, ...mismatchLines(rowResults, style)];
}

function heading({ name, protocol, family, plan, used, unused }: PortInfo, style: Style): string {
  const ranges = plan.port.loadBalancerSourceRanges.map(formatCidr);
  const traits = [
    family === 'IPv6' ? `${protocol} IPv6` : protocol,
    plan.port.internalPolicyLocal ? 'internal policy Local' : '',
    plan.port.externalPolicyLocal ? 'external policy Local' : '',
    plan.port.affinitySeconds > 0 ? 'ClientIP affinity' : '',
    ranges.length > 0 ? `balancer only from ${ranges.join(' ')}` : '',
  ];
  const endpoints = [
    ...used.map((endpoint, i) => `${style.cyan(endpointMark(i))} ${endpoint}`),
    ...unused.map(({ endpoint, reason }) => style.dim(`· ${endpoint} ${reason}`)),
  ];
  const text = `${style.bold(name)} ${style.dim(traits.filter(Boolean).join(', '))}`;
  return `${text} ${endpoints.length > 0 ? `→ ${endpoints.join('  ')}` : style.dim('→ no endpoints')}`;
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

function mismatchLines({ cells }: RowResults, style: Style): readonly string[] {
  return cells.flatMap(({ place, mismatch }) =>
    mismatch === undefined ? [] : [style.red(`   ✗ ${place}: ${mismatch}`)],
  );
}

const FIRST_CIRCLED = 0x2460;
const MAX_CIRCLED = 20;

/** ①, ②, … */
function endpointMark(index: number): string {
  return index < MAX_CIRCLED ? String.fromCodePoint(FIRST_CIRCLED + index) : `(${index + 1})`;
}
