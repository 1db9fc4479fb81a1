import type { NetworkNamespace } from '../netns.ts';
import { commandLine, type InputFile, ProgramError, type ProgramResult, runProgram } from '../programs/index.ts';
import { IptablesError } from './iptables-error.ts';
import { type LockWait, LockWatch } from './lock-watch.ts';
import { restoreLines } from './restore-failure.ts';
import { XTABLES_LOCK_FILE } from './xtables-lock.ts';

/** Some versions need minutes to restore a hundred thousand rules. */
const TIMEOUT_MS = 300_000;

/** A finished run of a program, for logs. */
export interface IptablesRun {
  readonly command: string;
  /** Returns the restored input. It can be called only until `onRun` returns. */
  readonly input: (() => string) | undefined;
  readonly durationMs: number;
  readonly lockWait: LockWait | undefined;
  /** The error, or the exit status of a run that did not fail. */
  readonly outcome: IptablesError | number;
}

export interface RunnerOptions {
  readonly namespace?: NetworkNamespace | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How long one program may take. By default 5 minutes. */
  readonly timeoutMs?: number | undefined;
  /** The lock file to use instead of /run/xtables.lock. Works if the program knows the variable XTABLES_LOCKFILE. */
  readonly lockFile?: string | undefined;
  /** Called after the end of each program. */
  readonly onRun?: ((run: IptablesRun) => void) | undefined;
}

export interface RunOptions {
  readonly okStatuses?: readonly number[] | undefined;
  readonly input?: InputFile | undefined;
  readonly onStdout?: ((chunk: Uint8Array) => void) | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether the program waits for the xtables lock. */
  readonly waitsForLock?: boolean | undefined;
}

/** Runs iptables programs, watches the lock while they run, and throws an `IptablesError` if they fail. */
export class Runner {
  readonly options: RunnerOptions;
  readonly #env: Readonly<Record<string, string>>;

  constructor(options: RunnerOptions) {
    this.options = options;
    this.#env = { ...options.env, ...(options.lockFile === undefined ? {} : { XTABLES_LOCKFILE: options.lockFile }) };
  }

  get lockFile(): string {
    return this.options.lockFile ?? XTABLES_LOCK_FILE;
  }

  async run(
    name: string,
    args: readonly string[],
    { waitsForLock = false, ...options }: RunOptions = {},
  ): Promise<ProgramResult> {
    const begun = performance.now();
    let watch: LockWatch | undefined;
    const report = (outcome: IptablesError | number, lockWait: LockWait | undefined) =>
      this.options.onRun?.({
        command: commandLine(name, args),
        input: options.input && (() => options.input?.text() ?? ''),
        durationMs: performance.now() - begun,
        lockWait,
        outcome,
      });
    const onStart = (pid: number) => {
      if (waitsForLock) watch = new LockWatch(this.lockFile, pid);
    };
    const { namespace } = this.options;
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS;
    try {
      const result = await runProgram(name, args, { ...options, namespace, timeoutMs, env: this.#env, onStart });
      report(result.status, watch?.stop(false));
      return result;
    } catch (thrown) {
      const error = toIptablesError(thrown, watch, options.input);
      if (error instanceof IptablesError) report(error, error.lockWait);
      throw error;
    }
  }
}

function toIptablesError(thrown: unknown, watch: LockWatch | undefined, input: InputFile | undefined): unknown {
  const gaveUp = thrown instanceof ProgramError && thrown.stderr.includes('xtables lock');
  const lockWait = watch?.stop(gaveUp);
  if (!(thrown instanceof ProgramError)) return thrown;
  const lines = input && restoreLines(thrown.stderr, () => input.lines());
  return IptablesError.fromProgramError(thrown, { lockWait, lines });
}
