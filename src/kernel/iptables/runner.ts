import type { NetworkNamespace } from '../netns.ts';
import { commandLine, type InputFile, ProgramError, type ProgramResult, runProgram } from '../programs/index.ts';
import { IptablesError } from './iptables-error.ts';
import { type LockWait, LockWatch } from './lock-watch.ts';
import { restoreLines } from './restore-failure.ts';
import { XTABLES_LOCK_FILE } from './xtables-lock.ts';

/** A restore of a hundred thousand rules takes minutes on some versions. */
const TIMEOUT_MS = 300_000;

/** One program that was run, for whoever wants to print it. */
export interface IptablesRun {
  readonly command: string;
  /** What was restored; to be called before the observer returns. */
  readonly input: (() => string) | undefined;
  readonly durationMs: number;
  readonly lockWait: LockWait | undefined;
  /** The failure, or an exit status that was an answer rather than one. */
  readonly outcome: IptablesError | number;
}

export interface RunnerOptions {
  readonly namespace?: NetworkNamespace | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How long one program may take, 5 minutes unless told. */
  readonly timeoutMs?: number | undefined;
  /** Another file than /run/xtables.lock, for programs that know the variable XTABLES_LOCKFILE. */
  readonly lockFile?: string | undefined;
  /** Called after each program's end. */
  readonly onRun?: ((run: IptablesRun) => void) | undefined;
}

export interface RunOptions {
  readonly okStatuses?: readonly number[] | undefined;
  readonly input?: InputFile | undefined;
  readonly onStdout?: ((chunk: Uint8Array) => void) | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether the program may wait for the xtables lock. */
  readonly locks?: boolean | undefined;
}

/** Runs iptables programs, watches the lock meanwhile, and makes an `IptablesError` of what fails. */
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
    { locks = false, ...options }: RunOptions = {},
  ): Promise<ProgramResult> {
    const begun = performance.now();
    let watch: LockWatch | undefined;
    const observe = (outcome: IptablesError | number, lockWait: LockWait | undefined) =>
      this.options.onRun?.({
        command: commandLine(name, args),
        input: options.input && (() => options.input?.text() ?? ''),
        durationMs: performance.now() - begun,
        lockWait,
        outcome,
      });
    const onStart = (pid: number) => {
      if (locks) watch = new LockWatch(this.lockFile, pid);
    };
    const { namespace } = this.options;
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS;
    try {
      const result = await runProgram(name, args, { ...options, namespace, timeoutMs, env: this.#env, onStart });
      observe(result.status, watch?.stop(false));
      return result;
    } catch (thrown) {
      const error = failure(thrown, watch, options.input);
      if (error instanceof IptablesError) observe(error, error.lockWait);
      throw error;
    }
  }
}

function failure(thrown: unknown, watch: LockWatch | undefined, input: InputFile | undefined): unknown {
  const refused = thrown instanceof ProgramError && thrown.stderr.includes('xtables lock');
  const lockWait = watch?.stop(refused);
  if (!(thrown instanceof ProgramError)) return thrown;
  const lines = input && restoreLines(thrown.stderr, () => input.lines());
  return IptablesError.of(thrown, { lockWait, lines });
}
