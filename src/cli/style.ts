import { oneOf } from './command.ts';
import { string } from './flags/index.ts';

const COLOR_CHOICES = ['auto', 'always', 'never'] as const;

export type ColorChoice = (typeof COLOR_CHOICES)[number];

/** The flag of all commands that colour their output. It overrides the variables NO_COLOR and TERM. */
export const COLOR_FLAG = {
  color: {
    type: string,
    default: 'auto',
    word: 'WHEN',
    usage: 'colours in the output: auto, always or never',
    words: COLOR_CHOICES,
  },
};

export function colorFlag({ color }: { readonly color: string }): ColorChoice {
  return oneOf(COLOR_CHOICES, color, '"--color" flag');
}

/** Colours text for a terminal. For other streams, text stays as it is. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly red: (text: string) => string;
  readonly cyan: (text: string) => string;
}

export function styleFor(stream: { isTTY?: boolean }, env: NodeJS.ProcessEnv, choice: ColorChoice = 'auto'): Style {
  const isCapable = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const coloured = choice === 'always' || (choice === 'auto' && isCapable);
  const paint = (on: number, off: number) => (text: string) => (coloured ? `\x1b[${on}m${text}\x1b[${off}m` : text);
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}
