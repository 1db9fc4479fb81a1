import { KernelError, type KernelErrorDetail } from '../errors.ts';
import { failureText, lastLines, type ProgramError } from '../programs/index.ts';
import { type LockWait, lockWaitText } from './lock-watch.ts';
import { type Problem, problemOf } from './problem.ts';
import type { RestoreLine } from './restore-failure.ts';

export interface IptablesErrorContext {
  readonly stderr?: string | undefined;
  readonly lockWait?: LockWait | undefined;
  readonly lines?: readonly RestoreLine[] | undefined;
}

/** What the kernel says of a rule when it lacks something that has nothing to do with the rule. */
const OF_THE_MACHINE =
  /Cannot allocate memory|Memory allocation problem|No buffer space|Operation not permitted|Permission denied/;

/** An iptables program did not do what it was asked; `object` is the first line of restore input that it pointed at. */
export class IptablesError extends KernelError {
  readonly problem: Problem;
  /** All lines of restore input that the program pointed at. */
  readonly lines: readonly RestoreLine[];
  /** Set if the xtables lock was waited for. */
  readonly lockWait: LockWait | undefined;
  readonly stderr: string;

  constructor(problem: Problem, detail: KernelErrorDetail, context: IptablesErrorContext = {}) {
    const { lockWait, lines = [], stderr = '' } = context;
    const [line] = lines;
    const words = [detail.kernelMessage, lockWait && lockWaitText(lockWait)];
    super('KERNEL_PROGRAM', {
      ...detail,
      kernelMessage: words.filter(Boolean).join(': '),
      object: line && `line ${line.number}: ${line.text}`,
    });
    this.problem = problem;
    this.lines = lines;
    this.lockWait = lockWait;
    this.stderr = stderr;
  }

  /** Whether it failed because of the rules it was given, rather than because of how things are on this machine. */
  get isAboutRules(): boolean {
    const { problem } = this;
    if (OF_THE_MACHINE.test(this.stderr)) return false;
    return problem === 'parameter' || problem === 'other' || problem === 'resource' || problem === 'version';
  }

  static of(error: ProgramError, context: Omit<IptablesErrorContext, 'stderr'>): IptablesError {
    const { operation, errno, failure, stderr } = error;
    const words = [failureText(failure), lastLines(withoutAdvice(stderr))];
    const detail = { operation, errno, kernelMessage: words.filter(Boolean).join(': ') };
    return new IptablesError(problemOf(failure, stderr), detail, { ...context, stderr });
  }
}

function withoutAdvice(stderr: string): string {
  return stderr.replaceAll(/^(?:Try `|Perhaps |# Warning: ).*$/gm, '');
}
