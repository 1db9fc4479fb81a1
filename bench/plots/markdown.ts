import type { Result } from '../record/result.ts';
import { groupedBy, rowsOf } from '../record/tables.ts';
import { CLUSTER_TARGETS, type Goal, goalsOf } from '../record/targets.ts';
import type { Row } from '../support/report.ts';
import type { Drawing } from './drawings.ts';

const HEAD = `# Benchmarks

This file is generated. \`npm run bench -- plots\` makes it and its pictures from the results in
\`bench/results\`. [Measure](guide/measure.md) says how to repeat a run, and
[the rules](spec/bench.md) say what each figure means.

Compare the ratios of one run, not the times of two machines. Where a figure has a range, it is the
median of several repetitions with the least and the greatest of them.`;

/** A result, with its pictures. */
export interface Chapter {
  readonly result: Result;
  readonly drawings: readonly Drawing[];
}

/** The whole docs/benchmarks.md. */
export function benchmarksDocument(chapters: readonly Chapter[]): string {
  const text = chapters.length === 0 ? ['No results are recorded.'] : chapters.map(chapterText);
  return `${[HEAD, ...text].join('\n\n')}\n`;
}

function chapterText({ result, drawings }: Chapter): string {
  return [
    `## ${result.bench}`,
    `\`\`\`\n${wrapped(result.command)}\n\`\`\``,
    table(factsOf(result)),
    ...goalsText(result),
    ...drawings.map(({ caption, file }) => `![${caption}](pictures/${file})`),
    ...figuresText(result),
  ].join('\n\n');
}

export function factsOf({ date, machine, versions, notes = {} }: Result): readonly Row[] {
  const facts = {
    date: date.slice(0, 10),
    machine: `${machine.processor}, ${machine.cores} cores, ${machine.memoryGiB} GiB`,
    kernel: machine.kernel,
    'Node.js': machine.node,
    'load before the run': String(machine.load),
    ...versions,
    ...notes,
  };
  return Object.entries(facts).map(([fact, value]) => ({ fact, value }));
}

function goalsText({ bench, figures, comparisons: [first] }: Result): readonly string[] {
  if (bench !== 'cluster' || !first) return [];
  const goals = goalsOf(figures, CLUSTER_TARGETS, first.ours, first.theirs);
  return goals.length === 0 ? [] : ['Targets, and what this run reached:', table(goals.map(goalRow))];
}

function goalRow({ isReached, ...goal }: Goal): Row {
  return { ...goal, reached: isReached ? 'yes' : 'no' };
}

function figuresText({ figures, comparisons: [first] }: Result): readonly string[] {
  return [...groupedBy(figures, ({ part, size }) => `${part}, ${size.replace('x', '×')}`)].flatMap(([title, group]) => [
    `### ${title}`,
    table(rowsOf(group, first?.ours ?? '', first?.theirs)),
  ]);
}

/** The same table for README.md: the targets with a ratio. */
export function readmeTable({ figures, comparisons: [first] }: Result): string {
  if (!first) return '';
  const goals = goalsOf(figures, CLUSTER_TARGETS, first.ours, first.theirs).filter(({ theirs }) => theirs !== '');
  return table(
    goals.map(({ target, size, ours, theirs }) => ({
      figure: target,
      'Services × endpoints': size.replace('x', ' × '),
      [first.ours]: ours,
      [first.theirs]: theirs,
    })),
  );
}

/** Puts the text between the two marks of a region. */
export function withRegion(document: string, text: string, region = 'benchmarks'): string {
  const [beginMark, endMark] = [`<!-- ${region} -->`, `<!-- /${region} -->`];
  const [begin, end] = [document.indexOf(beginMark), document.indexOf(endMark)];
  if (begin < 0 || end < begin) throw new Error(`the document lacks ${beginMark} or ${endMark}`);
  const body = text === '' ? '\n' : `\n\n${text}\n\n`;
  return document.slice(0, begin + beginMark.length) + body + document.slice(end);
}

export function table(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const lines = rows.map(row => columns.map(column => String(row[column] ?? '')));
  return [columns, columns.map(() => '---'), ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n');
}

/** A command on several lines, because a line of a document has at most 100 columns. */
function wrapped(command: string): string {
  const lines: string[] = [];
  for (const word of command.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 90) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join(' \\\n  ');
}
