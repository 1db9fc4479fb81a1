import { formatQuantity, parseQuantity } from '../../config/index.ts';
import type { FlagType } from './flag.ts';

/** A number such as `64Ki`, as it is written canonically. */
export const quantity: FlagType<string> = {
  word: 'quantity',
  parse: text => formatQuantity(parseQuantity(text)),
  format: value => value,
};
