import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tokenFile, tokenOf } from '../../control-plane/users.ts';
import { type Certificate, certificates } from '../../support/certificates.ts';

/** The server name that the proxy asks for. The API server has a certificate for it that a fault can replace. */
const SERVER_NAME = 'api.test';

/** The files with which the proxy and the API server know each other. */
export class Access {
  #tokens = 0;
  readonly folder = mkdtempSync(join(tmpdir(), 'chaos-'));

  constructor() {
    this.replaceToken();
    this.handOutToken();
    this.write('ca.crt', certificates().ca.cert);
    this.setCertificate('server');
  }

  get apiserverArgs(): readonly string[] {
    const { folder } = this;
    return [
      `--token-auth-file=${folder}/tokens.csv`,
      `--tls-sni-cert-key=${folder}/server.crt,${folder}/server.key:${SERVER_NAME}`,
    ];
  }

  /** The API server accepts only another token of the proxy from its next start on. */
  replaceToken(): void {
    this.#tokens++;
    this.write('tokens.csv', tokenFile().replace(tokenOf('proxy'), `token-${this.#tokens}`));
  }

  /** The proxy gets the token that the API server accepts. */
  handOutToken(): void {
    this.write('token', `token-${this.#tokens}`);
  }

  /** The API server notices the files by itself. */
  setCertificate(name: 'server' | 'expired' | 'wrongName' | 'behindIntermediate'): void {
    const { intermediate, ...all } = certificates();
    const { cert, key }: Certificate = all[name];
    this.write('server.key', key);
    this.write('server.crt', name === 'behindIntermediate' ? cert + intermediate.cert : cert);
  }

  /** Returns the path of a kubeconfig with these files. */
  kubeconfig(server: string): string {
    const { folder } = this;
    const cluster = { server, 'certificate-authority': `${folder}/ca.crt`, 'tls-server-name': SERVER_NAME };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'proxy', user: { tokenFile: `${folder}/token` } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'proxy' } }],
      'current-context': 'test',
    };
    return this.write('kubeconfig', JSON.stringify(config));
  }

  /** Replaces the file in one step. */
  write(name: string, content: string): string {
    const path = join(this.folder, name);
    writeFileSync(`${path}.next`, content);
    renameSync(`${path}.next`, path);
    return path;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
