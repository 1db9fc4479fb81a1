import type { YAMLParseError } from 'yaml';

/**
 * A syntax error in the words of the parser that kube-proxy has, as far as the usual mistakes go: people search for them.
 * That parser counts lines in two ways, so some of its errors name the line before.
 */
export function yamlErrorText(text: string, errors: readonly YAMLParseError[]): string {
  const [first, second] = errors;
  if (!first) return 'yaml: unknown problem parsing YAML content';
  const { line, words } = describe(text, first, second);
  return `yaml: ${line > 0 ? `line ${line}: ` : ''}${words}`;
}

interface Described {
  readonly line: number;
  readonly words: string;
}

function describe(text: string, error: YAMLParseError, next: YAMLParseError | undefined): Described {
  const line = lineOf(text, error.pos[0]);
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return { line, words: tabWords(text, error.pos[0]) };
    case 'BAD_SCALAR_START':
      return { line, words: 'found character that cannot start any token' };
    case 'BAD_DQ_ESCAPE':
      return { line, words: escapeWords(text, error.pos[0]) };
    case 'MISSING_CHAR':
      if (error.message.includes('quote')) return { line, words: 'found unexpected end of stream' };
      return { line: line + 1, words: "could not find expected ':'" };
    case 'MULTILINE_IMPLICIT_KEY':
      return multilineKey(text, error, line);
    case 'BLOCK_AS_IMPLICIT_KEY':
      if (!error.message.startsWith('Nested')) break;
      return { line: Math.max(line, lineOf(text, next?.pos[1] ?? 0)), words: MAPPING_VALUES };
    case 'BAD_INDENT':
      if (error.message.startsWith('Flow')) return unclosedFlow(text, error, line);
      break;
    case 'UNEXPECTED_TOKEN':
      if (/Unexpected ,/.test(error.message)) return { line: line - 1, words: 'did not find expected node content' };
      if (/block-seq-ind/.test(error.message)) {
        return { line, words: 'block sequence entries are not allowed in this context' };
      }
      break;
    default:
  }
  return { line: line - 1, words: 'did not find expected key' };
}

const MAPPING_VALUES = 'mapping values are not allowed in this context';

function multilineKey(text: string, error: YAMLParseError, line: number): Described {
  const end = lineOf(text, error.pos[1]);
  if (end === line) return { line: line - 1, words: 'did not find expected key' };
  const standsAlone = text.slice(text.lastIndexOf('\n', error.pos[0]) + 1, error.pos[0]).trim() === '';
  return { line: end, words: standsAlone ? "could not find expected ':'" : MAPPING_VALUES };
}

function unclosedFlow(text: string, error: YAMLParseError, line: number): Described {
  const rest = text.slice(error.pos[0]).trim();
  const before = text.slice(0, error.pos[0]).trimEnd();
  const at = rest === '' ? lineOf(text, text.trimEnd().length) : line - 1;
  if (/[[{]$/.test(before)) return { line: at, words: 'did not find expected node content' };
  const close = error.message.includes('sequence') ? ']' : '}';
  return { line: at, words: `did not find expected ',' or '${close}'` };
}

function escapeWords(text: string, offset: number): string {
  const [, letter, digits = ''] = /^\\([xuU])([0-9a-fA-F]*)/.exec(text.slice(offset)) ?? [];
  if (letter === undefined) return 'found unknown escape character';
  const wanted = letter === 'x' ? 2 : letter === 'u' ? 4 : 8;
  return digits.length < wanted
    ? 'did not find expected hexdecimal number'
    : 'found invalid Unicode character escape code';
}

function tabWords(text: string, offset: number): string {
  const before = text.slice(0, offset).trimEnd();
  if (before.endsWith(':')) return 'found character that cannot start any token';
  return 'found a tab character that violates indentation';
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
