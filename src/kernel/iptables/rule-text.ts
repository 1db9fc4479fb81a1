/**
 * Rules as lines of iptables-restore and iptables-save. A blank ends a word; a double quote begins a quoted word, in
 * which a backslash stands before a character to be taken as it is, and whose closing quote ends the word. Outside
 * quotes a backslash or a single quote is a character like others.
 */
const PLAIN = /^[^\s"]+$/;

/** The rule's words as text for iptables-restore. It reads lines, so no word can hold the end of one. */
export function quoteRule(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

export function quoteWord(word: string): string {
  if (/[\n\0]/.test(word)) throw new RangeError('iptables-restore cannot take a line feed or a zero byte in a word');
  return PLAIN.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`;
}

/** The words of a line as iptables-restore reads them. An open quote reaches to the end of the line. */
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
