import { shorten } from '../lib/shorten.ts';

/** Cuts a text. The result is a copy: in V8 a part of a text keeps the whole text in memory. */
export function shortText(text: string, max: number): string {
  return text.length <= max ? text : Buffer.from(shorten(text, max)).toString();
}
