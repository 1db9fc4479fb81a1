import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For tests: a temporary folder for a kubeconfig and the files that it names. */
export class KubeconfigFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'kubeconfig-'));

  /** Returns the path of the file. */
  write(name: string, content: string, mode = 0o644): string {
    const path = join(this.path, name);
    writeFileSync(path, content, { mode });
    return path;
  }

  /** Writes a kubeconfig with one cluster and one user. Returns its path. */
  kubeconfig(cluster: object, user: object = {}): string {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'me', user }],
      contexts: [{ name: 'here', context: { cluster: 'test', user: 'me' } }],
      'current-context': 'here',
    };
    return this.write('kubeconfig', JSON.stringify(config));
  }

  close(): void {
    rmSync(this.path, { recursive: true });
  }
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
