import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Shell scripts in a folder of their own, which replace real programs. */
export class FakePrograms {
  readonly folder = mkdtempSync(join(tmpdir(), 'fake-programs-'));

  constructor(scripts: Readonly<Record<string, string>>) {
    for (const [name, script] of Object.entries(scripts)) this.replace(name, script);
  }

  /** Writes a program. Replaces the former program of that name. */
  replace(name: string, script: string): void {
    writeFileSync(join(this.folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  /** A PATH with the folder before the folders of the real programs. With `only`, the PATH has just this folder. */
  env({ only = false } = {}): { readonly PATH: string } {
    return { PATH: only ? this.folder : `${this.folder}:/usr/sbin:/usr/bin:/sbin:/bin` };
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** A script that runs the real program. If the input contains the words, it prints the message and fails instead. */
export function refusing(words: string, message: string): string {
  return `
cat > "$0.input"
if grep -q -e '${words}' "$0.input"; then echo '${message}' >&2; exit 1; fi
exec /usr/sbin/$(basename "$0") "$@" < "$0.input"`;
}
