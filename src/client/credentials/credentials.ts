import type { Clock } from '../../lib/clock.ts';
import { rememberSecret } from '../../lib/secrets.ts';
import { ApiError } from '../api-error.ts';
import { type Environment, type Pem, pemName, type UserConfig } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { pairProblem } from './pem.ts';
import { ReloadedFile } from './reloaded-file.ts';
import { basicAuthorization, bearer, tokenProblem } from './token.ts';

/** What a request sends to say which user it acts as. */
export interface Credential {
  readonly authorization?: string | undefined;
  readonly certificate?: ClientCertificate | undefined;
}

/** A certificate and its private key, in PEM. */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CredentialSource {
  /** Rejects with an ApiError of code `credentials` if there is no credential. */
  current(): Promise<Credential>;
  /** Called when the server refused a credential. Returns the newest one, which may be the same. */
  refresh(refused: Credential): Promise<Credential>;
}

export interface CredentialParts {
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: ClientLog;
  /** How long a credential plugin may run. The default is a minute. */
  readonly execTimeoutMs?: number | undefined;
}

export function credentialSource(user: UserConfig, parts: CredentialParts): CredentialSource {
  const configured = user.token ?? user.tokenFile ?? user.basic ?? user.certificate;
  if (user.exec && configured === undefined) return new ExecPlugin(user.exec, parts);
  return new ConfiguredCredentials(user, parts);
}

export function sameCredential(one: Credential, other: Credential): boolean {
  return one.authorization === other.authorization && sameCertificate(one.certificate, other.certificate);
}

export function sameCertificate(one: ClientCertificate | undefined, other: ClientCertificate | undefined): boolean {
  return one?.certificate === other?.certificate && one?.key === other?.key;
}

/** The token, the user name and password, or the certificate of the configuration or of its files. */
class ConfiguredCredentials implements CredentialSource {
  readonly #user: UserConfig;
  readonly #log: ClientLog;
  readonly #files = new Map<string, ReloadedFile>();
  #pair: ClientCertificate | undefined;

  constructor(user: UserConfig, { clock, log }: CredentialParts) {
    this.#user = user;
    this.#log = log;
    const { tokenFile, certificate } = user;
    for (const file of [filePath(certificate?.certificate), filePath(certificate?.key)]) {
      if (file !== undefined) this.#files.set(file, new ReloadedFile(file, clock, log));
    }
    if (tokenFile !== undefined) this.#files.set(tokenFile, new ReloadedFile(tokenFile, clock, log, tokenProblem));
    // Throws at the start if the credentials cannot be used.
    this.#loadCertificate();
    if (user.token === undefined) this.#loadToken();
  }

  async current(): Promise<Credential> {
    return { authorization: this.#loadAuthorization(), certificate: this.#loadCertificate() };
  }

  refresh(): Promise<Credential> {
    for (const file of this.#files.values()) file.expire();
    return this.current();
  }

  #loadAuthorization(): string | undefined {
    const token = this.#loadToken();
    if (token !== undefined) return bearer(token);
    const { basic } = this.#user;
    return basic && basicAuthorization(basic.username, basic.password);
  }

  #loadToken(): string | undefined {
    const { token, tokenFile } = this.#user;
    const file = this.#files.get(tokenFile ?? '');
    try {
      return file?.read() ?? token;
    } catch (error) {
      if (token === undefined) throw error;
      return token;
    }
  }

  #loadCertificate(): ClientCertificate | undefined {
    const { certificate } = this.#user;
    if (!certificate) return undefined;
    const pair = { certificate: this.#loadPem(certificate.certificate), key: this.#loadPem(certificate.key) };
    rememberSecret(pair.key);
    if (sameCertificate(pair, this.#pair)) return this.#pair;
    const problem = pairProblem(pair.certificate, pair.key);
    if (problem === undefined) {
      this.#pair = pair;
      return pair;
    }
    const text = `${pemName(certificate.certificate)} and ${pemName(certificate.key)}: ${problem}`;
    if (!this.#pair) throw new ApiError('credentials', text);
    // Another program may have replaced only one of the two files so far.
    this.#log.warning('client', 'The new client certificate cannot be used yet, the former one is used', { err: text });
    return this.#pair;
  }

  #loadPem(pem: Pem): string {
    return pem.kind === 'data' ? pem.pem : (this.#files.get(pem.path)?.read() ?? '');
  }
}

function filePath(pem: Pem | undefined): string | undefined {
  return pem?.kind === 'file' ? pem.path : undefined;
}
