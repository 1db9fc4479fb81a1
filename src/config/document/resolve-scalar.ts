/**
 * What an unquoted YAML scalar stands for, by the rules of YAML 1.1 as Go's parser has them: `yes` and `off` are booleans,
 * `010` is octal, `0x1f` and `1_000` are numbers, `12:30` is a text. The same rules say which texts need quotes when written.
 */
export type Resolved =
  | { readonly kind: 'string' }
  | { readonly kind: 'null' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'timestamp'; readonly text: string };

const STRING: Resolved = { kind: 'string' };

const WORDS: ReadonlyMap<string, Resolved> = new Map([
  ...words(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'], { kind: 'bool', value: true }),
  ...words(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'], {
    kind: 'bool',
    value: false,
  }),
  ...words(['', '~', 'null', 'Null', 'NULL'], { kind: 'null' }),
  ...words(['.nan', '.NaN', '.NAN'], { kind: 'float', value: Number.NaN }),
  ...words(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], { kind: 'float', value: Number.POSITIVE_INFINITY }),
  ...words(['-.inf', '-.Inf', '-.INF'], { kind: 'float', value: Number.NEGATIVE_INFINITY }),
]);

export function resolveScalar(text: string): Resolved {
  const word = WORDS.get(text);
  if (word) return word;
  if (/^\./.test(text)) return resolveFloat(text) ?? STRING;
  if (!/^[-+0-9]/.test(text)) return STRING;
  const timestamp = resolveTimestamp(text);
  if (timestamp !== undefined) return { kind: 'timestamp', text: timestamp };
  const plain = text.replaceAll('_', '');
  return resolveInt(plain) ?? resolveFloat(plain) ?? STRING;
}

function words(texts: readonly string[], resolved: Resolved): [string, Resolved][] {
  return texts.map(text => [text, resolved]);
}

function resolveInt(plain: string): Resolved | undefined {
  const sign = /^[-+]/.exec(plain)?.[0] ?? '';
  const digits = plain.slice(sign.length);
  const isInt = /^(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.test(digits);
  if (!isInt) return undefined;
  const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
  const value = sign === '-' ? -size : size;
  // Without a sign there is room for unsigned 64 bits.
  const most = sign === '' ? 2n ** 64n : 2n ** 63n;
  return value >= -(2n ** 63n) && value < most ? { kind: 'int', value } : undefined;
}

function resolveFloat(plain: string): Resolved | undefined {
  if (!/^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? { kind: 'float', value } : undefined;
}

const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?(Z|[-+]\d\d:\d\d))|(?: (\d{1,2}):(\d{1,2}):(\d{1,2})([.,]\d+)?))?$/;

/** A point in time is handed on as RFC 3339 has it, in whatever form it was written. */
function resolveTimestamp(text: string): string | undefined {
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const [, year = '', month = '', day = ''] = match;
  const [hour = '0', minute = '0', second = '0', fraction = ''] = match[4] ? match.slice(4, 8) : match.slice(9, 13);
  const zone = match[8] === undefined || match[8] === '+00:00' ? 'Z' : match[8];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (Number(year) > 99 && (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)))
    return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const two = (number: string) => number.padStart(2, '0');
  const digits = fraction.slice(1, 10).replace(/0+$/, '');
  const time = `${two(hour)}:${two(minute)}:${two(second)}${digits === '' ? '' : `.${digits}`}`;
  return `${year}-${two(month)}-${two(day)}T${time}${zone}`;
}
