/** A number with a suffix, in the form that Kubernetes uses for sizes: `64Ki`, `1500m`, `12e6`. */
export interface Quantity {
  /** The number is digits × 10^exponent. */
  readonly digits: bigint;
  readonly exponent: number;
  readonly format: 'binary' | 'decimal' | 'exponent';
}

/** A text that is not a quantity. The message is that of Kubernetes. */
export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL: ReadonlyMap<number, string> = new Map([
  [-9, 'n'],
  [-6, 'u'],
  [-3, 'm'],
  [0, ''],
  [3, 'k'],
  [6, 'M'],
  [9, 'G'],
  [12, 'T'],
  [15, 'P'],
  [18, 'E'],
]);
const EXPONENTS: ReadonlyMap<string, number> = new Map([...DECIMAL].map(([exponent, suffix]) => [suffix, exponent]));

const MIN_EXPONENT = -9;
const MAX_INT64 = 2n ** 63n - 1n;
/** Kubernetes keeps decimal numbers with up to this many digits in 64 bits. */
const MAX_FAST_DIGITS = 18;

/** Throws a QuantityError. */
export function parseQuantity(text: string): Quantity {
  const match = /^([-+]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(text);
  if (!match || text === '') {
    const pattern = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
    throw new QuantityError(`quantities must match the regular expression '${pattern}'`);
  }
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  const { format, scale, factor } = readSuffix(suffix);
  const size = BigInt(`${whole}${fraction}` || '0') * factor;
  const rounded = roundUp(size, scale - fraction.length);
  const limited = format === 'binary' && whole !== '' ? limitToInt64(rounded) : rounded;
  return { ...limited, digits: sign === '-' ? -limited.digits : limited.digits, format };
}

/** Returns the text to write. As in Kubernetes, a text that is almost canonical (`+1`, `05`) stays as it is. */
export function quantityText(text: string): string {
  const quantity = parseQuantity(text);
  return keepsText(text) ? text : formatQuantity(quantity);
}

/** Returns the value as a whole number, rounded up. A value over 64 bits overflows as in Kubernetes, mostly to 0. */
export function quantityValue({ digits, exponent }: Quantity): bigint {
  if (exponent <= 0) {
    const unit = 10n ** BigInt(-exponent);
    const size = digits < 0n ? -digits : digits;
    const rounded = (size + unit - 1n) / unit;
    return BigInt.asIntN(64, digits < 0n ? -rounded : rounded);
  }
  // 10^64 has 64 factors of two, so the low 64 bits are 0.
  if (exponent >= 64) return 0n;
  const value = digits * 10n ** BigInt(exponent);
  const isShort = String(digits).replace('-', '').length <= MAX_FAST_DIGITS;
  return isShort && value !== BigInt.asIntN(64, value) ? 0n : BigInt.asIntN(64, value);
}

/** Returns the canonical text: with the largest suffix that needs no fraction. */
export function formatQuantity(quantity: Quantity): string {
  const { digits, exponent } = quantity;
  if (digits === 0n) return '0';
  const whole = quantity.format === 'binary' ? wholeNumberOf(quantity) : 0n;
  if (whole >= 1024n || whole <= -1024n) return binaryText(whole);
  const zeros = /0*$/.exec(String(digits))?.[0].length ?? 0;
  const power = exponent + zeros;
  const thousands = Math.floor(power / 3) * 3;
  const mantissa = (digits / 10n ** BigInt(zeros)) * 10n ** BigInt(power - thousands);
  if (quantity.format !== 'exponent') return `${mantissa}${DECIMAL.get(thousands) ?? ''}`;
  return thousands === 0 ? String(mantissa) : `${mantissa}e${thousands}`;
}

function keepsText(text: string): boolean {
  const [, zeroless = '', fraction = '', suffix = ''] = /^[-+]?0*([0-9]*)(?:\.([0-9]*))?([^0-9].*)?$/.exec(text) ?? [];
  const whole = zeroless || '0';
  const power = BINARY.indexOf(suffix);
  if (power > 0) {
    const precision = 14 - whole.length - 3 * power;
    return fraction === '' && precision >= 0 && BigInt(whole) % 8n !== 0n;
  }
  const digits = `${whole}${fraction}`;
  const scale = readSuffix(suffix).scale - fraction.length;
  if (digits.length > MAX_FAST_DIGITS || scale < MIN_EXPONENT || scale % 3 !== 0) return false;
  return !digits.startsWith('0') && !digits.endsWith('000');
}

interface Suffix {
  readonly format: Quantity['format'];
  readonly scale: number;
  readonly factor: bigint;
}

function readSuffix(suffix: string): Suffix {
  const scale = EXPONENTS.get(suffix);
  if (scale !== undefined) return { format: 'decimal', scale, factor: 1n };
  const power = BINARY.indexOf(suffix);
  if (power > 0) return { format: 'binary', scale: 0, factor: 1024n ** BigInt(power) };
  const exponent = /^[eE]([-+]?[0-9]{1,9})$/.exec(suffix)?.[1];
  if (exponent === undefined) throw new QuantityError("unable to parse quantity's suffix");
  return { format: 'exponent', scale: Number(exponent), factor: 1n };
}

/** Rounds up to whole nano units, so that a small positive number does not become zero. */
function roundUp(digits: bigint, exponent: number): { readonly digits: bigint; readonly exponent: number } {
  const excess = MIN_EXPONENT - exponent;
  if (excess <= 0 || digits === 0n) return { digits, exponent: digits === 0n ? 0 : exponent };
  if (excess > String(digits).length) return { digits: 1n, exponent: MIN_EXPONENT };
  const unit = 10n ** BigInt(excess);
  return { digits: (digits + unit - 1n) / unit, exponent: MIN_EXPONENT };
}

/** Limits a binary quantity to the largest 64-bit number. */
function limitToInt64(amount: { readonly digits: bigint; readonly exponent: number }): typeof amount {
  const max = MAX_INT64 * 10n ** BigInt(-amount.exponent);
  return amount.digits > max ? { digits: MAX_INT64, exponent: 0 } : amount;
}

/** Returns zero if the quantity has a fraction. The caller then writes a decimal number. */
function wholeNumberOf({ digits, exponent }: Quantity): bigint {
  const unit = 10n ** BigInt(-exponent);
  return digits % unit === 0n ? digits / unit : 0n;
}

function binaryText(whole: bigint): string {
  let power = 0;
  let rest = whole;
  for (; rest % 1024n === 0n && power < BINARY.length - 1; power++) rest /= 1024n;
  return `${rest}${BINARY[power]}`;
}
