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
