/** The verbosity of log calls whose source, or whose file without its extension, matches a pattern. */
export interface VModuleItem {
  readonly filePattern: string;
  readonly verbosity: number;
}

/** How much is logged. */
export class Verbosity {
  #level: number;
  #modules: readonly { readonly matches: RegExp; readonly verbosity: number }[] = [];
  /** A cache: the verbosity of each file by the patterns. */
  readonly #levelOfSource = new Map<string, number>();

  constructor(level = 0, vmodule: readonly VModuleItem[] = []) {
    this.#level = level;
    this.setVModule(vmodule);
  }

  get level(): number {
    return this.#level;
  }

  setLevel(level: number): void {
    this.#level = level;
  }

  setVModule(vmodule: readonly VModuleItem[]): void {
    this.#levelOfSource.clear();
    // A pattern with verbosity 0 has no effect. It must not hide a later pattern for the same file.
    this.#modules = vmodule
      .filter(({ verbosity }) => verbosity > 0)
      .map(({ filePattern, verbosity }) => ({ matches: globPattern(filePattern), verbosity }));
  }

  /** A pattern can only raise the verbosity of a file. */
  isEnabled(level: number, source: string): boolean {
    if (level <= this.#level) return true;
    return this.#modules.length > 0 && level <= this.#moduleLevel(source);
  }

  #moduleLevel(source: string): number {
    const known = this.#levelOfSource.get(source);
    if (known !== undefined) return known;
    const names = namesOf(source);
    const level = this.#modules.find(({ matches }) => names.some(name => matches.test(name)))?.verbosity ?? 0;
    this.#levelOfSource.set(source, level);
    return level;
  }
}

/** The names that a pattern may match: for `server start.ts:23` they are `server` and `start`. */
function namesOf(source: string): readonly string[] {
  const [, name = source, file] = /^(.*) (.*)\.ts:\d+$/.exec(source) ?? [];
  const lastPart = name.slice(name.lastIndexOf('/') + 1);
  return file === undefined ? [lastPart] : [lastPart, file];
}

const NOTHING = /^(?!)/;

/** Go's filepath.Match: `*`, `?`, `[a-z]`, `[^a-z]`, and `\` before a letter. A malformed pattern matches nothing. */
function globPattern(glob: string): RegExp {
  let pattern = '';
  for (let rest = glob; rest !== ''; ) {
    const [token = ''] = /^(?:\\.|\[\^?(?:\\.|[^\]\\])+\]|[^[\\])/su.exec(rest) ?? [];
    if (token === '') return NOTHING;
    pattern += tokenPattern(token);
    rest = rest.slice(token.length);
  }
  try {
    return new RegExp(`^${pattern}$`, 'u');
  } catch {
    return NOTHING;
  }
}

function tokenPattern(token: string): string {
  if (token === '*') return '[^/]*';
  if (token === '?') return '[^/]';
  if (token.startsWith('[')) return classPattern(token);
  return literal(token.startsWith('\\') ? token.slice(1) : token);
}

function classPattern(token: string): string {
  const negated = token.startsWith('[^');
  const inside = token.slice(negated ? 2 : 1, -1);
  const letters = [...inside.matchAll(/\\(.)|([^\\])/gsu)].map(([, quoted, bare]) =>
    bare === '-' ? '-' : literal(quoted ?? bare ?? ''),
  );
  return `[${negated ? '^' : ''}${letters.join('')}]`;
}

function literal(letter: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(letter) ? `\\${letter}` : letter;
}
