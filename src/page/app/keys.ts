import type { ViewName } from './address.ts';

/** All keys of the page, for the help. */
export const KEY_HELP: readonly { readonly keys: readonly string[]; readonly about: string }[] = [
  { keys: ['/'], about: 'Search for a Service' },
  { keys: ['g', 's'], about: 'Go to Services' },
  { keys: ['g', 'a'], about: 'Go to Ask' },
  { keys: ['g', 't'], about: 'Go to Timeline' },
  { keys: ['g', 'r'], about: 'Go to Rules' },
  { keys: ['↑', '↓'], about: 'In a list: the row before, the next row' },
  { keys: ['Page Up', 'Page Down'], about: 'In a list: a page up, a page down' },
  { keys: ['Home', 'End'], about: 'In a list: the first row, the last row' },
  { keys: ['Enter'], about: 'In a list: open the row' },
  { keys: ['Esc'], about: 'Close what is open, or clear the search' },
  { keys: ['?'], about: 'Show these keys' },
];

export type KeyAction =
  | { readonly kind: 'search' }
  | { readonly kind: 'help' }
  | { readonly kind: 'view'; readonly view: ViewName };

const VIEWS_BY_KEY: Readonly<Record<string, ViewName>> = {
  s: 'services',
  a: 'ask',
  t: 'timeline',
  r: 'rules',
};

/** How long the second key of two may take. */
const MAX_BETWEEN_MS = 1500;

/** Turns keys into actions, also two in a row. */
export class KeySequence {
  #prefixAt = Number.NEGATIVE_INFINITY;

  /** `at` is the time in milliseconds. */
  press(key: string, at: number): KeyAction | undefined {
    const isSecond = at - this.#prefixAt <= MAX_BETWEEN_MS;
    this.#prefixAt = Number.NEGATIVE_INFINITY;
    const view = isSecond ? VIEWS_BY_KEY[key] : undefined;
    if (view) return { kind: 'view', view };
    if (key === 'g') this.#prefixAt = at;
    if (key === '/') return { kind: 'search' };
    return key === '?' ? { kind: 'help' } : undefined;
  }
}
