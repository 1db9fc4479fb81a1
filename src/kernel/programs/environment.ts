const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/**
 * The few variables that a program receives. PATH has no relative folder, because then the owner of the working
 * directory could choose which program root runs. LC_ALL prevents translation, because we compare messages as text.
 */
export function environment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const own = (process.env.PATH ?? '').split(':').filter(folder => folder.startsWith('/'));
  return { PATH: [...new Set([...own, ...FOLDERS])].join(':'), LC_ALL: 'C', ...extra };
}
