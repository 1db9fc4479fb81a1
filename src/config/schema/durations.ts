import type { Node } from '../../lib/document/index.ts';
import { nodeText } from '../../lib/document/index.ts';
import { type Duration, DurationError, formatDuration, parseDuration } from '../../lib/duration.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { QuantityError, quantityText } from '../quantity.ts';
import { DecodeError, type Place, type Type, wrongType } from './type.ts';

/** A text such as `30s`. A number is refused, and so is null, which reads as an empty text. */
export const duration: Type<Duration> = {
  name: 'string',
  zero: 0n,
  read(node, _, at) {
    if (node.kind !== 'string' && node.kind !== 'null') throw new DecodeError(wrongType(node, 'string', at));
    return durationOf(node.kind === 'string' ? node.text : '');
  },
  write: formatDuration,
};

export interface FlushFrequency {
  readonly duration: Duration;
  /** Read as a number of nanoseconds, and to be written as one. */
  readonly isNumber: boolean;
}

/** A text, or a number of nanoseconds, which it was before it became a text. */
export const flushFrequency: Type<FlushFrequency> = {
  name: 'v1.TimeOrMetaDuration',
  zero: { duration: 0n, isNumber: true },
  read(node, into) {
    if (node.kind === 'string') return { duration: durationOf(node.text), isNumber: false };
    if (node.kind === 'null') return { ...into, isNumber: true };
    const nanoseconds = node.kind === 'number' && /^-?[0-9]+$/.test(node.text) ? BigInt(node.text) : undefined;
    if (nanoseconds !== undefined && BigInt.asIntN(64, nanoseconds) === nanoseconds) {
      return { duration: nanoseconds, isNumber: true };
    }
    throw new DecodeError(`invalid duration ${goQuote(nodeText(node))}: ${wrongDuration(node)}`);
  },
  write: value => (value.isNumber ? Number(value.duration) : formatDuration(value.duration)),
};

/** A number of bytes such as `64Ki`, kept as it is written. */
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

function wrongDuration(node: Node): string {
  const nowhere: Pick<Place, 'fields' | 'struct'> = { fields: [], struct: '' };
  const shown = node.kind === 'number' ? `number ${node.text}` : node.kind;
  return wrongType(node, 'time.Duration', nowhere, shown);
}

function durationOf(text: string): Duration {
  try {
    return parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw new DecodeError(error.message);
    throw error;
  }
}
