import type { Explanation, Step, StepVerdict, Topic, Verdict } from '../../explain/index.ts';
import { printable } from '../../lib/printable.ts';
import type { Style } from '../style.ts';
import { pad, truncate, wrap } from '../terminal-text.ts';

/** Longer lines are hard to read. */
const MAX_WIDTH = 100;
const MIN_WIDTH = 60;

const MARKS: Readonly<Record<StepVerdict, readonly [string, keyof Style]>> = {
  good: ['✓', 'green'],
  bad: ['✗', 'red'],
  note: ['!', 'yellow'],
  unknown: ['?', 'yellow'],
};

const VERDICTS: Readonly<Record<Verdict, readonly [string, keyof Style]>> = {
  works: ['✓ works', 'green'],
  broken: ['✗ broken', 'red'],
  unknown: ['? cannot tell', 'yellow'],
};

/** The explanation for a terminal: a title, numbered steps, and the verdict with the next step at the end. */
export function explanationText(explanation: Explanation, style: Style, columns = MAX_WIDTH): string {
  const width = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, columns));
  const lines = [
    ...titleLines(explanation, style, width),
    '',
    ...explanation.steps.flatMap(step => stepLines(step, explanation, style, width)),
    '',
    ...verdictLines(explanation, style, width),
  ];
  return `${lines.join('\n')}\n`;
}

function titleLines({ question, origin, target }: Explanation, style: Style, width: number): readonly string[] {
  const asked = printable(question.to);
  const service = target ? `${target.service}${target.port === '' ? '' : `:${target.port}`}` : asked;
  const isAddress = target !== undefined && !asked.startsWith(target.service);
  const title = isAddress ? `${asked} (${printable(service)})` : printable(service);
  const caller = question.from === undefined ? '' : ` from ${printable(question.from)}`;
  const where = {
    proxy: `the proxy of node ${origin.node}`,
    cluster: `the API server, for node ${origin.node}`,
    manifests: `manifests, for node ${origin.node}`,
  }[origin.kind];
  const heading = style.bold(`${title}${caller}`);
  return [...wrap(heading, width), style.dim(`${printable(where)}, ${origin.mode} mode`)];
}

function stepLines(
  { number, topic, verdict, text, details }: Step,
  { steps }: Explanation,
  style: Style,
  width: number,
): readonly string[] {
  const [mark, colour] = MARKS[verdict];
  const topics = Math.max(...steps.map(step => step.topic.length));
  const numbers = String(steps.length).length;
  const start = `${String(number).padStart(numbers)} ${style[colour](mark)} ${pad(style.dim(topic), topics)}  `;
  const indent = ' '.repeat(numbers + topics + 5);
  const sentence = wrap(printable(text), width - indent.length).map((line, i) => `${i === 0 ? start : indent}${line}`);
  return [...sentence, ...details.flatMap(detail => detailLines(detail, topic, indent, style, width))];
}

/** Keeps the blanks of aligned lines. A line that is too long goes on with a deeper indent. */
function detailLines(detail: string, topic: Topic, indent: string, style: Style, width: number): readonly string[] {
  const text = printable(detail);
  const room = width - indent.length;
  if (text.length <= room) return [`${indent}${coloured(text, style)}`];
  // An entry of the kernel that is as it should be needs no second line.
  if (topic === 'kernel' && text.startsWith('✓')) return [`${indent}${coloured(truncate(text, room), style)}`];
  const own = /^[ \u2713\u2717!?\u00b7]*/u.exec(text)?.[0] ?? '';
  const lines = wrap(text.slice(own.length), room - own.length);
  return lines.map((line, i) => `${indent}${coloured(`${i === 0 ? own : ' '.repeat(own.length)}${line}`, style)}`);
}

function coloured(line: string, style: Style): string {
  if (line.startsWith('✓')) return `${style.green('✓')}${line.slice(1)}`;
  if (line.startsWith('✗')) return `${style.red('✗')}${line.slice(1)}`;
  return style.dim(line);
}

function verdictLines({ verdict, summary, next }: Explanation, style: Style, width: number): readonly string[] {
  const [word, colour] = VERDICTS[verdict];
  const start = `${style[colour](style.bold(word))}: `;
  const lines = wrap(`${start}${printable(summary)}`, width).map((line, i) => (i === 0 ? line : `  ${line}`));
  if (!next) return lines;
  const advice = wrap(`Next: ${printable(next.text)}${next.command === undefined ? '.' : ':'}`, width - 2);
  // A command stays in one line, so that it can be copied.
  return [
    ...lines,
    ...advice.map(line => `  ${line}`),
    ...(next.command === undefined ? [] : [`    ${style.cyan(printable(next.command))}`]),
  ];
}
