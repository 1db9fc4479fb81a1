import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../api-error.ts';
import type { Pem, UserConfig } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import type { Environment } from '../kubeconfig/in-cluster.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { pairProblem } from './pem.ts';
import { ReloadedFile } from './reloaded-file.ts';
import { bearer, tokenProblem } from './token.ts';

/** As whom a request is made. */
export interface Credential {
  readonly authorization?: string | undefined;
  readonly certificate?: ClientCertificate | undefined;
}

/** In PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CredentialSource {
  /** Rejects with an ApiError of code `credentials`. */
  current(): Promise<Credential>;
  /** After the server refused one: what there is now, which may be the same. */
  refresh(refused: Credential): Promise<Credential>;
}

export interface CredentialParts {
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: ClientLog;
  /** How long a credential plugin may run; a minute unless told. */
  readonly execTimeoutMs?: number | undefined;
}

export function credentialSource(user: UserConfig, parts: CredentialParts): CredentialSource {
  const given = user.token ?? user.tokenFile ?? user.basic ?? user.certificate;
  if (user.exec && given === undefined) return new ExecPlugin(user.exec, parts);
  return new GivenCredentials(user, parts);
}

export function sameCredential(one: Credential, other: Credential): boolean {
  return one.authorization === other.authorization && sameCertificate(one.certificate, other.certificate);
}

export function sameCertificate(one: ClientCertificate | undefined, other: ClientCertificate | undefined): boolean {
  return one?.certificate === other?.certificate && one?.key === other?.key;
}

/** Token, name and password, certificate: as the configuration has them, or as its files do. */
class GivenCredentials implements CredentialSource {
  readonly #user: UserConfig;
  readonly #log: ClientLog;
  readonly #files = new Map<string, ReloadedFile>();
  #pair: ClientCertificate | undefined;

  constructor(user: UserConfig, { clock, log }: CredentialParts) {
    this.#user = user;
    this.#log = log;
    const { tokenFile, certificate } = user;
    for (const file of [path(certificate?.certificate), path(certificate?.key)]) {
      if (file !== undefined) this.#files.set(file, new ReloadedFile(file, clock, log));
    }
    if (tokenFile !== undefined) this.#files.set(tokenFile, new ReloadedFile(tokenFile, clock, log, tokenProblem));
    // What cannot be used is told at the start.
    this.#certificate();
    if (user.token === undefined) this.#token();
  }

  async current(): Promise<Credential> {
    return { authorization: this.#authorization(), certificate: this.#certificate() };
  }

  refresh(): Promise<Credential> {
    for (const file of this.#files.values()) file.expire();
    return this.current();
  }

  #authorization(): string | undefined {
    const token = this.#token();
    if (token !== undefined) return bearer(token);
    const { basic } = this.#user;
    return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
  }

  #token(): string | undefined {
    const { token, tokenFile } = this.#user;
    const file = this.#files.get(tokenFile ?? '');
    try {
      return file?.text() ?? token;
    } catch (error) {
      if (token === undefined) throw error;
      return token;
    }
  }

  #certificate(): ClientCertificate | undefined {
    const { certificate } = this.#user;
    if (!certificate) return undefined;
    const pair = { certificate: this.#pem(certificate.certificate), key: this.#pem(certificate.key) };
    if (sameCertificate(pair, this.#pair)) return this.#pair;
    const problem = pairProblem(pair.certificate, pair.key);
    if (problem === undefined) {
      this.#pair = pair;
      return pair;
    }
    const text = `${nameOf(certificate.certificate)} and ${nameOf(certificate.key)}: ${problem}`;
    if (!this.#pair) throw new ApiError('credentials', text);
    // Two files cannot be replaced at once: they fit again soon.
    this.#log.warning('A new client certificate cannot be used yet, the former one is used', { err: text });
    return this.#pair;
  }

  #pem(pem: Pem): string {
    return pem.kind === 'data' ? pem.pem : (this.#files.get(pem.path)?.text() ?? '');
  }
}

function path(pem: Pem | undefined): string | undefined {
  return pem?.kind === 'file' ? pem.path : undefined;
}

function nameOf(pem: Pem): string {
  return pem.kind === 'file' ? `${pem.field} ${pem.path}` : pem.field;
}
