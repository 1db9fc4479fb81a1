import { failureText, lastLines, ProgramError, runProgram } from '../../kernel/programs/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import { rememberSecret } from '../../lib/secrets.ts';
import { ApiError } from '../api-error.ts';
import type { Environment, ExecConfig } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import type { Credential, CredentialParts, CredentialSource } from './credentials.ts';
import { type ExecStatus, execInfo, parseExecCredential } from './exec-credential.ts';
import { hideCredentials } from './hide-credentials.ts';
import { pairProblem } from './pem.ts';
import { bearer } from './token.ts';

/** Long enough for a plugin that asks a server. A plugin that waits for input from a keyboard would never end. */
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1 << 20;

/** Credentials from a program. It runs for the first request, and when a credential has expired or was refused. */
export class ExecPlugin implements CredentialSource {
  readonly #config: ExecConfig;
  readonly #env: Environment;
  readonly #clock: Clock;
  readonly #log: ClientLog;
  readonly #timeoutMs: number;
  #credential: Credential | undefined;
  #expires: number | undefined;
  #running: Promise<Credential> | undefined;

  constructor(config: ExecConfig, { env, clock, log, execTimeoutMs }: CredentialParts) {
    this.#config = config;
    this.#env = env;
    this.#clock = clock;
    this.#log = log;
    this.#timeoutMs = execTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    if (config.interactiveMode === 'Always') {
      const text = 'exec plugin cannot support interactive mode: standard input is not a terminal';
      throw new ApiError('credentials', `${text} (interactiveMode must not be Always)`);
    }
  }

  async current(): Promise<Credential> {
    const isExpired = this.#expires !== undefined && this.#clock.now() > this.#expires;
    return this.#credential && !isExpired ? this.#credential : this.#renew();
  }

  async refresh(refused: Credential): Promise<Credential> {
    const current = this.#credential;
    return current && current !== refused ? current : this.#renew();
  }

  /** All requests that wait share one run. A plugin may be slow, open a browser, or limit its calls. */
  #renew(): Promise<Credential> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<Credential> {
    const { command, args, apiVersion } = this.#config;
    try {
      const { stdout, stderr } = await runProgram(command, args, {
        timeoutMs: this.#timeoutMs,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        env: this.#environment(),
      });
      try {
        return this.#store(parseExecCredential(stdout, apiVersion));
      } finally {
        // Only now the secrets are known that the output must not show.
        this.#logOutput(stderr);
      }
    } catch (error) {
      throw new ApiError('credentials', `getting credentials: ${this.#problem(error)}`, { cause: error });
    }
  }

  #logOutput(stderr: string): void {
    const output = lastLines(hideCredentials(stderr));
    if (output === undefined) return;
    this.#log.info('client', 'Credential plugin wrote to standard error', {
      command: this.#config.command,
      stderr: output,
    });
  }

  #store({ token, certificate, key, expires }: ExecStatus): Credential {
    rememberSecret(token);
    rememberSecret(key);
    const problem = certificate === '' ? undefined : pairProblem(certificate, key);
    if (problem !== undefined) throw new Error(`exec plugin returned a certificate that cannot be used: ${problem}`);
    this.#credential = {
      authorization: token === '' ? undefined : bearer(token),
      certificate: certificate === '' ? undefined : { certificate, key },
    };
    this.#expires = expires;
    return this.#credential;
  }

  /** The program runner sets PATH, without relative folders, and the language. */
  #environment(): Record<string, string> {
    const variables: Environment = { ...this.#env, PATH: undefined, LC_ALL: undefined, ...this.#config.env };
    const set = Object.entries(variables).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    );
    return { ...Object.fromEntries(set), KUBERNETES_EXEC_INFO: execInfo(this.#config) };
  }

  #problem(error: unknown): string {
    const { command, installHint } = this.#config;
    if (!(error instanceof ProgramError)) return errorText(error);
    const { failure } = error;
    if (failure.kind === 'missing') {
      // The hint comes from the kubeconfig. Its control characters must not reach a terminal.
      const hint = installHint.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
      return `exec: executable ${command} not found${hint === '' ? '' : `: ${hint}`}`;
    }
    const output = lastLines(hideCredentials(error.stderr));
    const tail = output === undefined ? '' : `: ${output}`;
    if (failure.kind === 'status') return `exec: executable ${command} failed with exit code ${failure.status}${tail}`;
    // The message of the error also has the arguments, which may contain a secret.
    const errno = failure.kind === 'not-started' ? ` (${failure.errno})` : '';
    return `exec: ${command}: ${failureText(failure)}${errno}${tail}`;
  }
}
