import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** For tests: a folder with a kubeconfig and what belongs to it. */
export class KubeconfigFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'kubeconfig-'));

  write(name: string, content: string, mode = 0o644): string {
    const path = join(this.path, name);
    writeFileSync(path, content, { mode });
    return path;
  }

  /** A kubeconfig of one cluster and one user. */
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
