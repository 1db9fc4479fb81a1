const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/**
 * The few variables that a program gets. A relative folder in PATH would let whoever owns the working directory choose
 * what root runs; messages are compared as text, so they must not be translated.
 */
export function environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own = (process.env.PATH ?? '').split(':').filter(folder => folder.startsWith('/'));
  return { PATH: [...new Set([...own, ...FOLDERS])].join(':'), LC_ALL: 'C', ...extra };
}
