import { quantityText } from '../../config/index.ts';
import type { FlagType } from './flag.ts';

/** A number such as `64Ki`, as it is written. */
export const quantity: FlagType<string> = {
  word: 'quantity',
  parse: text => quantityText(text),
  format: value => value,
};
