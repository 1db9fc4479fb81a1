const PLAIN = /^[\w@%+=:,./-]+$/;

/** The command, quoted so that an operator can give it to a shell. */
export function commandLine(name: string, args: readonly string[]): string {
  return [name, ...args].map(quote).join(' ');
}

function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
