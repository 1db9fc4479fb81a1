/** A line of the input that iptables-restore refused. */
export interface RestoreLine {
  /** Counted from 1. */
  readonly number: number;
  readonly text: string;
  /** The message about this line: `RULE_APPEND failed (No such file or directory): rule in chain FOO`. */
  readonly message?: string | undefined;
}

/**
 * The forms in which the versions of iptables-restore name a line: `line 4 failed`, `Error occurred at line: 6`,
 * `line 3: RULE_APPEND failed (…): rule in chain FOO`, `COMMIT expected at line 3`, `Bad line 3: need ]`.
 */
const FORMS = [
  /^(?:\S+: )?line (\d+)(?:: (.+)| failed(?:: (.+)| .*)?| (?:table|chain|policy) .*)$/,
  /^Error occurred at line: (\d+)$/,
  /^(?:\S+: )?COMMIT expected at line (\d+)$/,
  /^(?:.*: )?Bad line (\d+): .*$/,
];

const MAX_TEXT = 1000;

/**
 * The lines that the message of iptables-restore names, in the order of the input. If the program finds a missing chain
 * only at the end of a table, it names the line COMMIT. Then this returns the rules that jump to the missing chain.
 */
export function restoreLines(stderr: string, input: () => Iterable<string>): RestoreLine[] {
  const named = namedLines(stderr);
  if (named.size === 0) return [];
  const lines = findLines(input(), (_, number) => named.has(number), named);
  const missing = /Chain '(\S+)' does not exist/.exec(stderr)?.[1];
  if (missing === undefined || !lines.every(({ text }) => text === 'COMMIT')) return lines;
  const jump = ` ${missing} `;
  const jumps = findLines(input(), text => isJump(`${text} `, jump), new Map());
  return jumps.length > 0 ? jumps : lines;
}

function namedLines(stderr: string): Map<number, string | undefined> {
  const named = new Map<number, string | undefined>();
  for (const line of stderr.split('\n')) {
    for (const form of FORMS) {
      const match = form.exec(line.trim());
      if (match) named.set(Number(match[1]), match[2] ?? match[3] ?? named.get(Number(match[1])));
    }
  }
  return named;
}

function findLines(
  input: Iterable<string>,
  wanted: (text: string, number: number) => boolean,
  messages: ReadonlyMap<number, string | undefined>,
): RestoreLine[] {
  const found: RestoreLine[] = [];
  let number = 0;
  for (const text of input) {
    number += 1;
    if (wanted(text, number)) {
      found.push({ number, text: text.slice(0, MAX_TEXT), message: messages.get(number) });
    }
  }
  return found;
}

function isJump(text: string, chain: string): boolean {
  return ['-j', '-g', '--jump', '--goto'].some(flag => text.includes(` ${flag}${chain}`));
}
