import { type Node, nodeText } from '../../lib/document/index.ts';
import { type Duration, DurationError, formatDuration, parseDuration } from '../../lib/duration.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { QuantityError, quantityText } from '../quantity.ts';
import { DecodeError, type Place, type Type, wrongTypeText } from './type.ts';

/** A text such as `30s`. A number is refused. Null reads as an empty text, and so is refused too. */
export const duration: Type<Duration> = {
  name: 'string',
  zero: 0n,
  read(node, _, at) {
    if (node.kind !== 'string' && node.kind !== 'null') throw new DecodeError(wrongTypeText(node, 'string', at));
    return readDuration(node.kind === 'string' ? node.text : '');
  },
  write: formatDuration,
};

export interface FlushFrequency {
  readonly duration: Duration;
  /** The file has a number of nanoseconds. It is written as a number again. */
  readonly isNumber: boolean;
}

/** A text, or a number of nanoseconds: the older form. */
export const flushFrequency: Type<FlushFrequency> = {
  name: 'v1.TimeOrMetaDuration',
  zero: { duration: 0n, isNumber: true },
  read(node, into) {
    if (node.kind === 'string') return { duration: readDuration(node.text), isNumber: false };
    if (node.kind === 'null') return { ...into, isNumber: true };
    const nanoseconds = node.kind === 'number' && /^-?[0-9]+$/.test(node.text) ? BigInt(node.text) : undefined;
    if (nanoseconds !== undefined && BigInt.asIntN(64, nanoseconds) === nanoseconds) {
      return { duration: nanoseconds, isNumber: true };
    }
    throw new DecodeError(`invalid duration ${goQuote(nodeText(node))}: ${wrongDurationText(node)}`);
  },
  write: value => (value.isNumber ? Number(value.duration) : formatDuration(value.duration)),
};

/** A number of bytes such as `64Ki`, as `quantityText` returns it. */
export const quantity: Type<string> = {
  name: 'resource.QuantityValue',
  zero: '0',
  read(node) {
    if (node.kind === 'null') return '0';
    try {
      return quantityText((node.kind === 'string' ? node.text : nodeText(node)).trim());
    } catch (error) {
      if (error instanceof QuantityError) throw new DecodeError(error.message);
      throw error;
    }
  },
  write: value => value,
};

function wrongDurationText(node: Node): string {
  const nowhere: Pick<Place, 'fields' | 'struct'> = { fields: [], struct: '' };
  const shown = node.kind === 'number' ? `number ${node.text}` : node.kind;
  return wrongTypeText(node, 'time.Duration', nowhere, shown);
}

function readDuration(text: string): Duration {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw new DecodeError(error.message);
    throw error;
  }
}
