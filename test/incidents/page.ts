import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = 'docs/guide/find-out-why.md';
const PROMPT = '$ kubectl -n kube-system exec POD -- ';

/** A command of the page, and the output that the page shows. */
export interface Shown {
  /** The words after `kube-proxy`. */
  readonly args: readonly string[];
  readonly output: string;
  /** The page shows only so many lines at the end, as `| tail -N` says. Undefined if it shows all. */
  readonly tail: number | undefined;
}

/** The section of an incident, by its number. */
export function sectionOf(number: number): string {
  const [, section] =
    new RegExp(`^## ${number}\\. .*\\n([\\s\\S]*?)(?=^## )`, 'm').exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (section === undefined) throw new RangeError(`${PAGE} has no incident ${number}`);
  return section;
}

/** All commands in the proxy's pod that a section shows with their output. */
export function shownIn(section: string): readonly Shown[] {
  const blocks = [...section.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  return blocks.filter(text => text.startsWith(`${PROMPT}kube-proxy `)).map(shown);
}

function shown(text: string): Shown {
  const end = text.indexOf('\n');
  const [command = '', tail] = text.slice(PROMPT.length, end).split(' | tail -');
  return {
    args: command.split(' ').slice(1),
    output: text.slice(end + 1),
    tail: tail === undefined ? undefined : Number(tail),
  };
}

/** Writes the real output into the page, after a text of the program changed. */
export function replaceOutput({ output }: Shown, real: string): void {
  writeFileSync(
    PAGE,
    readFileSync(PAGE, 'utf8').replace(output, () => real),
  );
}

/** Replaces what differs from run to run: the seconds until the kernel forgets a flow. */
export function normalised(output: string): string {
  return output.replaceAll(/(\budp +17) \d+ /g, '$1 N ');
}
