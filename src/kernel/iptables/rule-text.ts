/**
 * The text of rules for iptables-restore and from iptables-save. A blank ends a word. A double quote begins a quoted
 * word, and the closing quote ends it. Inside quotes a backslash escapes the next character. Outside quotes,
 * backslashes and single quotes are ordinary characters.
 */
const PLAIN = /^[^\s"]+$/;

/** The words as text for iptables-restore. Throws if a word has a line feed, because iptables-restore reads lines. */
export function quoteRule(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

export function quoteWord(word: string): string {
  if (/[\n\0]/.test(word))
    throw new RangeError('iptables-restore does not accept a line feed or a zero byte in a word');
  return PLAIN.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
}

/** The words of a line as iptables-restore reads them. A quote that is not closed extends to the end of the line. */
export function splitRule(text: string): string[] {
  const words: string[] = [];
  let word = '';
  let quoted = false;
  const finish = () => {
    if (word !== '' || quoted) words.push(word);
    word = '';
    quoted = false;
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === '"') finish();
      else if (character === '\\') word += text[++at] ?? '';
      else word += character;
    } else if (character === '"') quoted = true;
    else if (character === ' ' || character === '\t' || character === '\n') finish();
    else word += character;
  }
  finish();
  return words;
}
