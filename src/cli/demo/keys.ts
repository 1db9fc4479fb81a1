export type Key = 'quit' | 'up' | 'down' | 'page-up' | 'page-down' | 'home' | 'end';

/** The codes that terminals send for keys, and letters that pagers use for the same. */
const KEYS: ReadonlyMap<string, Key> = new Map([
  ['q', 'quit'],
  ['Q', 'quit'],
  // In raw mode Ctrl-C is a character and no signal.
  ['\x03', 'quit'],
  ['\x1b[A', 'up'],
  ['\x1bOA', 'up'],
  ['k', 'up'],
  ['\x1b[B', 'down'],
  ['\x1bOB', 'down'],
  ['j', 'down'],
  ['\x1b[5~', 'page-up'],
  ['b', 'page-up'],
  ['\x1b[6~', 'page-down'],
  [' ', 'page-down'],
  ['\x1b[H', 'home'],
  ['\x1bOH', 'home'],
  ['\x1b[1~', 'home'],
  ['g', 'home'],
  ['\x1b[F', 'end'],
  ['\x1bOF', 'end'],
  ['\x1b[4~', 'end'],
  ['G', 'end'],
]);

const ESCAPE = String.fromCharCode(27);
/** A key with an escape sequence, or a character. */
const TOKENS = new RegExp(`${ESCAPE}(?:\\[[0-9;]*[A-Za-z~]|O[A-Za-z])|[\\s\\S]`, 'gu');

/** Returns the keys in the characters that a terminal sent. Other characters have no meaning. */
export function keysOf(characters: string): readonly Key[] {
  return (characters.match(TOKENS) ?? []).flatMap(token => KEYS.get(token) ?? []);
}
