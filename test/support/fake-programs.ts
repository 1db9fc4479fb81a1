import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For tests: programs that behave as told, as shell scripts in a folder of their own. */
export class FakePrograms {
  readonly folder = mkdtempSync(join(tmpdir(), 'fake-programs-'));

  constructor(scripts: Readonly<Record<string, string>>) {
    for (const [name, script] of Object.entries(scripts)) this.replace(name, script);
  }

  /** Puts a program in place of what is there. */
  replace(name: string, script: string): void {
    writeFileSync(join(this.folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /** A PATH in which these stand before, or with `only` instead of, the real ones. */
  env({ only = false } = {}): { readonly PATH: string } {
    return { PATH: only ? this.folder : `${this.folder}:/usr/sbin:/usr/bin:/sbin:/bin` };
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Does what the real program does, unless its input has the words. Then it says something, and fails. */
export function refusing(words: string, saying: string): string {
  return `
cat > "$0.input"
if grep -q -e '${words}' "$0.input"; then echo '${saying}' >&2; exit 1; fi
exec /usr/sbin/$(basename "$0") "$@" < "$0.input"`;
}
