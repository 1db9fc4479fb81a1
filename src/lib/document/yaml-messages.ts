import type { YAMLParseError } from 'yaml';

/**
 * The message of kube-proxy's parser for a syntax error, for the usual mistakes: operators search for these messages.
 * That parser counts lines in two ways, so that some of its messages give the line before.
 */
export function yamlErrorText(text: string, errors: readonly YAMLParseError[]): string {
  const [first, second] = errors;
  if (!first) return 'yaml: unknown problem parsing YAML content';
  const { line, message } = goMessage(text, first, second);
  return parseErrorText(line, message);
}

/** The message of a problem that Go's scanner finds. It has no line number in the first line. */
export function scanErrorText(line: number, message: string): string {
  return parseErrorText(scannerLine(line), message);
}

export function parseErrorText(line: number, message: string): string {
  return `yaml: ${line > 0 ? `line ${line}: ` : ''}${message}`;
}

interface LineMessage {
  readonly line: number;
  readonly message: string;
}

function goMessage(text: string, error: YAMLParseError, next: YAMLParseError | undefined): LineMessage {
  const line = lineOf(text, error.pos[0]);
  switch (error.code) {
    case 'TAB_AS_INDENT':
      return { line: scannerLine(line), message: tabMessage(text, error.pos[0]) };
    case 'BAD_SCALAR_START':
      return { line: scannerLine(line), message: CANNOT_START };
    case 'BAD_DQ_ESCAPE':
      return { line: scannerLine(line), message: escapeMessage(text, error.pos[0]) };
    case 'BAD_ALIAS':
      return { line: scannerLine(line), message: NO_NAME };
    case 'TAG_RESOLVE_FAILED':
      return { line: scannerLine(line), message: 'did not find expected tag URI' };
    case 'BLOCK_IN_FLOW':
      return { line: line - 1, message: missingComma(text, error.pos[0]) };
    case 'MISSING_CHAR':
      if (error.message.includes('between flow')) return { line: line - 1, message: missingComma(text, error.pos[0]) };
      if (error.message.startsWith('Flow')) return unclosedFlow(text, error, line);
      if (error.message.includes('directives-end')) return { line: scannerLine(line), message: MAPPING_VALUES };
      if (error.message.includes('Sequence item')) return { line: line - 1, message: missingDash(text, error.pos[0]) };
      if (error.message.includes('quote')) return { line, message: 'found unexpected end of stream' };
      return { line: line + 1, message: "could not find expected ':'" };
    case 'MULTILINE_IMPLICIT_KEY':
      return multilineKey(text, error, line);
    case 'BLOCK_AS_IMPLICIT_KEY':
      if (!error.message.startsWith('Nested')) break;
      return { line: scannerLine(Math.max(line, lineOf(text, next?.pos[1] ?? 0))), message: MAPPING_VALUES };
    case 'BAD_INDENT':
      if (error.message.startsWith('Flow')) return unclosedFlow(text, error, line);
      break;
    case 'UNEXPECTED_TOKEN':
      if (/header includes extra/.test(error.message)) {
        return { line: scannerLine(line), message: 'did not find expected comment or line break' };
      }
      // At the beginning of a document Go takes a closing bracket for a value, later for a key.
      if (/Unexpected ,|flow-(?:map|seq)-end.*document/.test(error.message)) {
        return { line: line - 1, message: NO_CONTENT };
      }
      if (/block-seq-ind/.test(error.message)) {
        return { line: scannerLine(line), message: 'block sequence entries are not allowed in this context' };
      }
      break;
    default:
  }
  return { line: lineOf(text, nextToken(text, error.pos[0])) - 1, message: NO_KEY };
}

export const NO_NAME = 'did not find expected alphabetic or numeric character';
const NO_CONTENT = 'did not find expected node content';
export const NO_KEY = 'did not find expected key';
export const VIOLATES = 'found a tab character that violates indentation';
const CANNOT_START = 'found character that cannot start any token';
const MAPPING_VALUES = 'mapping values are not allowed in this context';

function scannerLine(line: number): number {
  return line === 1 ? 0 : line;
}

/** Go's parser gives the position of the token that it cannot use, not of the blanks and comments before it. */
function nextToken(text: string, offset: number): number {
  const blanks = /(?:\s|(?<=\s|^)#.*)*/y;
  blanks.lastIndex = offset;
  return blanks.test(text) && blanks.lastIndex < text.length ? blanks.lastIndex : offset;
}

/** A list that is not indented below its key belongs to the map around it, in which Go expects a key. */
function missingDash(text: string, offset: number): string {
  const before = text
    .slice(0, offset)
    .split('\n')
    .filter(line => /^\s*[^\s#]/.test(line));
  const dash = indentOf(before.findLast(line => /^ *-(?: |$)/.test(line)) ?? '');
  const outer = before.findLast(line => !/^ *-(?: |$)/.test(line) && indentOf(line) <= dash) ?? '';
  return indentOf(outer) === dash ? NO_KEY : "did not find expected '-' indicator";
}

/** The message depends on the bracket that is open at the position. */
function missingComma(text: string, offset: number): string {
  let before = text.slice(0, offset);
  for (let shorter = ''; shorter !== before; ) {
    shorter = before;
    before = before.replaceAll(/\[[^[\]{}]*\]|\{[^[\]{}]*\}/g, '');
  }
  return `did not find expected ',' or '${before.lastIndexOf('[') > before.lastIndexOf('{') ? ']' : '}'}'`;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function multilineKey(text: string, error: YAMLParseError, line: number): LineMessage {
  const end = lineOf(text, error.pos[1]);
  if (end === line) return { line: line - 1, message: NO_KEY };
  return { line: end, message: mustBeKey(text, error.pos[0]) ? "could not find expected ':'" : MAPPING_VALUES };
}

/** A text at the indentation of a map that has begun must be a key. */
function mustBeKey(text: string, offset: number): boolean {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const indent = text.slice(start, offset);
  if (indent.trim() !== '') return false;
  const before = text
    .slice(0, start)
    .split('\n')
    .filter(line => /^\s*[^\s#]/.test(line));
  return indentOf(before.at(-1) ?? '') >= indent.length && before.length > 0;
}

function unclosedFlow(text: string, error: YAMLParseError, line: number): LineMessage {
  const rest = text.slice(error.pos[0]).trim();
  const before = text.slice(0, error.pos[0]).trimEnd();
  const at = rest === '' ? lineOf(text, text.trimEnd().length) : line - 1;
  if (/[[{,]$/.test(before)) return { line: at, message: NO_CONTENT };
  const close = error.message.includes('sequence') ? ']' : '}';
  return { line: at, message: `did not find expected ',' or '${close}'` };
}

function escapeMessage(text: string, offset: number): string {
  const [, letter, digits = ''] = /^\\([xuU])([0-9a-fA-F]*)/.exec(text.slice(offset)) ?? [];
  if (letter === undefined) return 'found unknown escape character';
  const wanted = letter === 'x' ? 2 : letter === 'u' ? 4 : 8;
  return digits.length < wanted
    ? 'did not find expected hexdecimal number'
    : 'found invalid Unicode character escape code';
}

/** Only a text without quotes could continue in the line of the tab. */
export function tabMessage(text: string, offset: number): string {
  const before = text.slice(0, offset).trimEnd();
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (line === '' || /[:'"\]}]$/.test(line) || /(?:^|\s)#|^(?:---|\.\.\.)/.test(line)) return CANNOT_START;
  return VIOLATES;
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
