import { shortestDecimal } from '../../config/index.ts';
import { goQuote } from '../../lib/go-quote.ts';
import type { FlagType } from './flag.ts';

export const bool: FlagType<boolean> = {
  word: '',
  bare: 'true',
  parse: parseBool,
  format: String,
};

const TRUE: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE: readonly string[] = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

export function parseBool(text: string): boolean {
  if (TRUE.includes(text)) return true;
  if (FALSE.includes(text)) return false;
  throw invalidSyntax('ParseBool', text);
}

export const int32: FlagType<number> = {
  word: 'int32',
  parse: parseInt32,
  format: String,
};

/** A verbosity: a decimal number of at most 31 bits. */
export const level: FlagType<number> = {
  word: 'Level',
  parse: parseLevel,
  format: String,
};

export function parseLevel(text: string): number {
  if (!/^[0-9]+$/.test(text)) throw invalidSyntax('ParseUint', text);
  if (BigInt(text) > 2n ** 31n - 1n) throw outOfRange('ParseUint', text);
  return Number(text);
}

const INTEGER = /^([-+]?)(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO]?(?:_?[0-7])+|0|[1-9](?:_?[0-9])*)$/;

/** Reads Go's integer literals: decimal, 0x, 0o, 0b, octal after a leading 0, with `_` between digits. */
function parseInt32(text: string): number {
  const [, sign, digits] = INTEGER.exec(text) ?? [];
  if (digits === undefined) throw invalidSyntax('ParseInt', text);
  const plain = digits.replaceAll('_', '').toLowerCase();
  const size = BigInt(/^0[0-7]/.test(plain) ? `0o${plain.slice(1)}` : plain);
  const value = sign === '-' ? -size : size;
  if (value !== BigInt.asIntN(32, value)) throw outOfRange('ParseInt', text);
  return Number(value);
}

export const float32: FlagType<number> = {
  word: 'float32',
  parse: parseFloat32,
  format: formatFloat32,
};

const INFINITE = /^[-+]?inf(?:inity)?$/i;
const DIGITS = '[0-9](?:_?[0-9])*';
const DECIMAL = new RegExp(`^[-+]?(?:${DIGITS}(?:\\.(?:${DIGITS})?)?|\\.${DIGITS})(?:[eE][-+]?${DIGITS})?$`);
const HEXADECIMAL = /^([-+]?)0x_?([0-9a-f]*)\.?([0-9a-f]*)p([-+]?[0-9]+)$/i;

/** Returns the shortest decimal number with the same 32 bits, so that 0.1 stays 0.1. */
function parseFloat32(text: string): number {
  if (/^nan$/i.test(text)) return Number.NaN;
  if (INFINITE.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  const value = DECIMAL.test(text) ? Number(text.replaceAll('_', '')) : parseHexadecimal(text);
  if (value === undefined) throw invalidSyntax('ParseFloat', text);
  const single = Math.fround(value);
  if (!Number.isFinite(single)) throw outOfRange('ParseFloat', text);
  return single === 0 ? single : shortestDecimal(single);
}

/** Reads `0x1.8p3` as 12. Returns undefined if the text is not hexadecimal. */
function parseHexadecimal(text: string): number | undefined {
  const plain = text.replaceAll(/(?<=[0-9a-f])_(?=[0-9a-f])/gi, '');
  const [, sign, whole, fraction, power] = HEXADECIMAL.exec(plain) ?? [];
  if (whole === undefined || fraction === undefined || `${whole}${fraction}` === '') return undefined;
  const size = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(power) - 4 * fraction.length);
  return sign === '-' ? -size : size;
}

function formatFloat32(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (Object.is(value, -0)) return '-0';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  if (Number(exponent) >= -4 && Number(exponent) < 6) return String(value);
  return `${mantissa}e${exponent.slice(0, 1)}${exponent.slice(1).padStart(2, '0')}`;
}

function invalidSyntax(parser: string, text: string): Error {
  return new Error(`strconv.${parser}: parsing ${goQuote(text)}: invalid syntax`);
}

function outOfRange(parser: string, text: string): Error {
  return new Error(`strconv.${parser}: parsing ${goQuote(text)}: value out of range`);
}
