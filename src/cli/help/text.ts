import { describeFlags, type FlagTable } from '../flags/index.ts';
import { wrap } from '../terminal-text.ts';

export interface Example {
  readonly meaning: string;
  readonly command: string;
}

export interface HelpTexts {
  /** Paragraphs, with an empty line between them. */
  readonly about: string;
  /** What follows `kube-proxy`: `plan --manifests DIR [flags]` */
  readonly usage: string;
  readonly examples: readonly Example[];
}

/** Longer lines are hard to read. */
const MAX_WIDTH = 120;
const MIN_WIDTH = 40;
/** For a pipe and for a terminal that does not report its width. */
const DEFAULT_WIDTH = 100;

export function helpWidth({ columns = DEFAULT_WIDTH }: { readonly columns?: number }): number {
  return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, columns));
}

export function commandHelp(
  { about, usage, examples, flags }: HelpTexts & { flags: FlagTable },
  width: number,
): string {
  return sections([
    paragraphs(about, width),
    ['Usage:', `  kube-proxy ${usage}`],
    exampleLines(examples),
    ['Flags:', ...describeFlags(flags, width)],
  ]);
}

/** Separates sections by an empty line. */
export function sections(all: readonly (readonly string[])[]): string {
  return `${all
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')}\n`;
}

export function paragraphs(text: string, width: number): readonly string[] {
  return text.split('\n\n').flatMap((paragraph, i) => {
    const lines = wrap(paragraph.replaceAll('\n', ' '), width);
    return i === 0 ? lines : ['', ...lines];
  });
}

export function exampleLines(examples: readonly Example[]): readonly string[] {
  if (examples.length === 0) return [];
  return [
    'Examples:',
    ...examples.flatMap(({ meaning, command }) => [`  # ${meaning}`, ...command.split('\n').map(line => `  ${line}`)]),
  ];
}
