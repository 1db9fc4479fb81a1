const PLAIN = /^[\w@%+=:,./-]+$/;
const CONTROL = /[\p{Cc}\p{Cf}]/u;

/** The text as one word of a POSIX shell. Nothing in it has a meaning for the shell, or for the terminal. */
export function shellQuote(text: string): string {
  if (PLAIN.test(text)) return text;
  if (!CONTROL.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${[...text].map(escaped).join('')}'`;
}

/** As bash, zsh and ksh read it inside of $''. */
function escaped(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`;
  if (!CONTROL.test(character)) return character;
  return [...new TextEncoder().encode(character)].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}
