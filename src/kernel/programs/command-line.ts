const PLAIN = /^[\w@%+=:,./-]+$/;

/** The command as it can be given to a shell. */
export function commandLine(name: string, args: readonly string[]): string {
  return [name, ...args].map(quote).join(' ');
}

function quote(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
