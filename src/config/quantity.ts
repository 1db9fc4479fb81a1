/** A number with a suffix, as Kubernetes writes sizes: `64Ki`, `1500m`, `12e6`. */
export interface Quantity {
  /** The number is digits × 10^exponent. */
  readonly digits: bigint;
  readonly exponent: number;
  readonly format: 'binary' | 'decimal' | 'exponent';
}

/** A text that is no quantity; the message has the words of Kubernetes. */
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

const LEAST_EXPONENT = -9;
const MOST_BINARY = 2n ** 63n - 1n;
/** Decimal numbers of up to so many digits are kept in 64 bits. */
const MOST_FAST_DIGITS = 18;

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
  const capped = format === 'binary' && whole !== '' ? cap(rounded) : rounded;
  return { ...capped, digits: sign === '-' ? -capped.digits : capped.digits, format };
}

/** What is written: the text itself where it is nearly canonical already (`+1`, `05`), as Kubernetes has it. */
export function quantityText(text: string): string {
  const quantity = parseQuantity(text);
  return isKept(text) ? text : formatQuantity(quantity);
}

/** The whole number that it is, rounded up; what is too large for 64 bits overflows as it does in Kubernetes, mostly to 0. */
export function quantityValue({ digits, exponent }: Quantity): bigint {
  if (exponent <= 0) {
    const unit = 10n ** BigInt(-exponent);
    const size = digits < 0n ? -digits : digits;
    const rounded = (size + unit - 1n) / unit;
    return BigInt.asIntN(64, digits < 0n ? -rounded : rounded);
  }
  // So many factors of two leave nothing of 64 bits.
  if (exponent >= 64) return 0n;
  const value = digits * 10n ** BigInt(exponent);
  const isShort = String(digits).replace('-', '').length <= MOST_FAST_DIGITS;
  return isShort && value !== BigInt.asIntN(64, value) ? 0n : BigInt.asIntN(64, value);
}

/** The canonical text: the largest suffix that leaves no fraction. */
export function formatQuantity(quantity: Quantity): string {
  const { digits, exponent } = quantity;
  if (digits === 0n) return '0';
  const whole = quantity.format === 'binary' ? wholeOf(quantity) : 0n;
  if (whole >= 1024n || whole <= -1024n) return binary(whole);
  const zeros = /0*$/.exec(String(digits))?.[0].length ?? 0;
  const power = exponent + zeros;
  const thousands = Math.floor(power / 3) * 3;
  const mantissa = (digits / 10n ** BigInt(zeros)) * 10n ** BigInt(power - thousands);
  if (quantity.format !== 'exponent') return `${mantissa}${DECIMAL.get(thousands) ?? ''}`;
  return thousands === 0 ? String(mantissa) : `${mantissa}e${thousands}`;
}

function isKept(text: string): boolean {
  const [, zeroless = '', fraction = '', suffix = ''] = /^[-+]?0*([0-9]*)(?:\.([0-9]*))?([^0-9].*)?$/.exec(text) ?? [];
  const whole = zeroless || '0';
  const power = BINARY.indexOf(suffix);
  if (power > 0) {
    const precision = 14 - whole.length - 3 * power;
    return fraction === '' && precision >= 0 && BigInt(whole) % 8n !== 0n;
  }
  const digits = `${whole}${fraction}`;
  const scale = readSuffix(suffix).scale - fraction.length;
  if (digits.length > MOST_FAST_DIGITS || scale < LEAST_EXPONENT || scale % 3 !== 0) return false;
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

/** Whoever asks for a little gets at least 1n. */
function roundUp(digits: bigint, exponent: number): { readonly digits: bigint; readonly exponent: number } {
  const excess = LEAST_EXPONENT - exponent;
  if (excess <= 0 || digits === 0n) return { digits, exponent: digits === 0n ? 0 : exponent };
  if (excess > String(digits).length) return { digits: 1n, exponent: LEAST_EXPONENT };
  const unit = 10n ** BigInt(excess);
  return { digits: (digits + unit - 1n) / unit, exponent: LEAST_EXPONENT };
}

function cap(amount: { readonly digits: bigint; readonly exponent: number }): typeof amount {
  const most = MOST_BINARY * 10n ** BigInt(-amount.exponent);
  return amount.digits > most ? { digits: MOST_BINARY, exponent: 0 } : amount;
}

/** Zero if there is a fraction: then it is written as a decimal number. */
function wholeOf({ digits, exponent }: Quantity): bigint {
  const unit = 10n ** BigInt(-exponent);
  return digits % unit === 0n ? digits / unit : 0n;
}

function binary(whole: bigint): string {
  let power = 0;
  let rest = whole;
  for (; rest % 1024n === 0n && power < BINARY.length - 1; power++) rest /= 1024n;
  return `${rest}${BINARY[power]}`;
}
