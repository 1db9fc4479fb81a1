import { lastLines, ProgramError, runProgram } from '../../kernel/programs/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorText } from '../../lib/error-text.ts';
import { ApiError } from '../api-error.ts';
import type { ExecConfig } from '../client-config.ts';
import type { ClientLog } from '../client-log.ts';
import type { Environment } from '../kubeconfig/in-cluster.ts';
import type { Credential, CredentialParts, CredentialSource } from './credentials.ts';
import { type ExecStatus, execInfo, parseExecCredential } from './exec-credential.ts';
import { pairProblem } from './pem.ts';
import { bearer } from './token.ts';

/** Plugins ask servers of their own, but whoever waits for a person at a keyboard waits in vain here. */
const LONGEST_RUN_MS = 60_000;
const MOST_OUTPUT = 1 << 20;

/** Credentials from a program, which is run when there are none, when they expired, and when the server refused them. */
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
    this.#timeoutMs = execTimeoutMs ?? LONGEST_RUN_MS;
    if (config.interactiveMode === 'Always') {
      const text = 'exec plugin cannot support interactive mode: standard input is not a terminal';
      throw new ApiError('credentials', `${text} (interactiveMode must not be Always)`);
    }
  }

  async current(): Promise<Credential> {
    const expired = this.#expires !== undefined && this.#clock.now() > this.#expires;
    return this.#credential && !expired ? this.#credential : this.#renew();
  }

  async refresh(refused: Credential): Promise<Credential> {
    const replaced = this.#credential && this.#credential !== refused;
    return replaced && this.#credential ? this.#credential : this.#renew();
  }

  /** Once for all who wait: a plugin may open a browser, count its calls, or take its time. */
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
        maxOutputBytes: MOST_OUTPUT,
        env: this.#environment(),
      });
      const words = lastLines(stderr);
      if (words !== '') this.#log.info('Credential plugin', { command, stderr: words });
      return this.#take(parseExecCredential(stdout, apiVersion));
    } catch (error) {
      throw new ApiError('credentials', `getting credentials: ${this.#problem(error)}`, { cause: error });
    }
  }

  #take({ token, certificate, key, expires }: ExecStatus): Credential {
    const problem = certificate === '' ? undefined : pairProblem(certificate, key);
    if (problem !== undefined) throw new Error(`exec plugin returned a certificate that cannot be used: ${problem}`);
    this.#credential = {
      authorization: token === '' ? undefined : bearer(token),
      certificate: certificate === '' ? undefined : { certificate, key },
    };
    this.#expires = expires;
    return this.#credential;
  }

  /** PATH without relative folders, and the language, are the program runner's. */
  #environment(): Record<string, string> {
    const own: Environment = { ...this.#env, PATH: undefined, LC_ALL: undefined, ...this.#config.env };
    const set = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    return { ...Object.fromEntries(set), KUBERNETES_EXEC_INFO: execInfo(this.#config) };
  }

  #problem(error: unknown): string {
    const { command, installHint } = this.#config;
    if (!(error instanceof ProgramError)) return errorText(error);
    const { failure } = error;
    if (failure.kind === 'missing') {
      // A hint comes with the kubeconfig: it must not control a terminal.
      const hint = installHint.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
      return `exec: executable ${command} not found${hint === '' ? '' : `: ${hint}`}`;
    }
    if (failure.kind !== 'status') return `exec: ${error.message}`;
    const words = lastLines(error.stderr);
    return `exec: executable ${command} failed with exit code ${failure.status}${words === '' ? '' : `: ${words}`}`;
  }
}
