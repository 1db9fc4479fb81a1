/**
 * The type of an unquoted YAML scalar by the rules of Go's parser for YAML 1.1: `yes` and `off` are booleans, `010` is
 * octal, `0x1f` and `1_000` are numbers, `12:30` is a text. The writer quotes texts that are not strings by these
 * rules.
 */
export type Resolved =
  | { readonly kind: 'string' }
  | { readonly kind: 'null' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  /** Read as a text, but quoted when it is written. */
  | { readonly kind: 'timestamp' };

const STRING: Resolved = { kind: 'string' };

const WORDS: ReadonlyMap<string, Resolved> = new Map([
  ...withMeaning(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'], {
    kind: 'bool',
    value: true,
  }),
  ...withMeaning(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'], {
    kind: 'bool',
    value: false,
  }),
  ...withMeaning(['', '~', 'null', 'Null', 'NULL'], { kind: 'null' }),
  ...withMeaning(['.nan', '.NaN', '.NAN'], { kind: 'float', value: Number.NaN }),
  ...withMeaning(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], {
    kind: 'float',
    value: Number.POSITIVE_INFINITY,
  }),
  ...withMeaning(['-.inf', '-.Inf', '-.INF'], { kind: 'float', value: Number.NEGATIVE_INFINITY }),
]);

export function resolveScalar(text: string): Resolved {
  const word = WORDS.get(text);
  if (word) return word;
  if (/^\./.test(text)) return resolveFloat(text) ?? STRING;
  if (!/^[-+0-9]/.test(text)) return STRING;
  if (isTimestamp(text)) return { kind: 'timestamp' };
  const plain = text.replaceAll('_', '');
  return resolveInt(plain) ?? resolveFloat(plain) ?? STRING;
}

function withMeaning(texts: readonly string[], resolved: Resolved): [string, Resolved][] {
  return texts.map(text => [text, resolved]);
}

function resolveInt(plain: string): Resolved | undefined {
  const sign = /^[-+]/.exec(plain)?.[0] ?? '';
  const digits = plain.slice(sign.length);
  const isInt = /^(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.test(digits);
  if (!isInt) return undefined;
  const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const value = sign === '-' ? -size : size;
  // Without a sign the number may have unsigned 64 bits.
  const max = sign === '' ? 2n ** 64n : 2n ** 63n;
  return value >= -(2n ** 63n) && value < max ? { kind: 'int', value } : undefined;
}

function resolveFloat(plain: string): Resolved | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? { kind: 'float', value } : undefined;
}

const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})([Tt]\d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?(Z|[-+]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?)?$/;

function isTimestamp(text: string): boolean {
  const [, year, month, day] = TIMESTAMP.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${year}-${month?.padStart(2, '0')}-${day?.padStart(2, '0')}T00:00:00Z`);
  const [hour = 0, minute = 0, second = 0] = [...text.matchAll(/[Tt :](\d{1,2})(?=[:.,Z+-]|$)/g)].map(([, part]) =>
    Number(part),
  );
  return date.getUTCDate() === Number(day) && hour < 24 && minute < 60 && second < 60;
}
