import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For tests: programs that behave as told, as shell scripts in a folder of their own. */
export class FakePrograms {
  readonly folder = mkdtempSync(join(tmpdir(), 'fake-programs-'));

  constructor(scripts: Readonly<Record<string, string>>) {
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(join(this.folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
  }

  /** A PATH in which these stand before, or with `only` instead of, the real ones. */
  env({ only = false } = {}): { readonly PATH: string } {
    return { PATH: only ? this.folder : `${this.folder}:/usr/sbin:/usr/bin:/sbin:/bin` };
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}
