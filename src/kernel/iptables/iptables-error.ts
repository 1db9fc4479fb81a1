import { netAdminAdvice } from '../capabilities.ts';
import { KernelError, type KernelErrorDetail } from '../errors.ts';
import { failureText, lastLines, type ProgramError } from '../programs/index.ts';
import { failureKind, type IptablesFailureKind } from './failure-kind.ts';
import { type LockWait, lockWaitText } from './lock-watch.ts';
import type { RestoreLine } from './restore-failure.ts';

export interface IptablesErrorContext {
  readonly stderr?: string | undefined;
  readonly lockWait?: LockWait | undefined;
  readonly lines?: readonly RestoreLine[] | undefined;
}

const NOT_PERMITTED = /Operation not permitted|Permission denied/;
/** Other messages of the kernel that do not depend on the rule: the machine lacks memory. */
const OUT_OF_MEMORY = /Cannot allocate memory|Memory allocation problem|No buffer space/;

/** An iptables program failed. `object` is the first line of restore input that the program refused. */
export class IptablesError extends KernelError {
  readonly kind: IptablesFailureKind;
  /** All lines of restore input that the program refused. */
  readonly lines: readonly RestoreLine[];
  /** Set if the program waited for the xtables lock. */
  readonly lockWait: LockWait | undefined;
  readonly stderr: string;

  constructor(kind: IptablesFailureKind, detail: KernelErrorDetail, context: IptablesErrorContext = {}) {
    const { lockWait, lines = [], stderr = '' } = context;
    const [line] = lines;
    const words = [detail.kernelMessage, lockWait && lockWaitText(lockWait)];
    super('KERNEL_PROGRAM', {
      ...detail,
      advice: adviceFor(stderr),
      kernelMessage: words.filter(Boolean).join(': ') || undefined,
      object: line && `line ${line.number}: ${line.text}`,
    });
    this.kind = kind;
    this.lines = lines;
    this.lockWait = lockWait;
    this.stderr = stderr;
  }

  /** Whether the process lacks a capability, or is not root. */
  get isNotPermitted(): boolean {
    return NOT_PERMITTED.test(this.stderr);
  }

  /** Whether the rules caused the failure, and not the state of the machine. */
  get isAboutRules(): boolean {
    const { kind } = this;
    if (this.isNotPermitted || OUT_OF_MEMORY.test(this.stderr)) return false;
    return kind === 'parameter' || kind === 'other' || kind === 'resource' || kind === 'version';
  }

  static fromProgramError(error: ProgramError, context: Omit<IptablesErrorContext, 'stderr'>): IptablesError {
    const { operation, errno, failure, stderr } = error;
    const detail = { operation, errno, reason: failureText(failure), kernelMessage: lastLines(withoutAdvice(stderr)) };
    return new IptablesError(failureKind(failure, stderr), detail, { ...context, stderr });
  }
}

/** What the program says if the kernel lacks a table, a match or a target. */
const LACKS_MODULE = /do you need to insmod|missing kernel module|Table does not exist/;

function adviceFor(stderr: string): string | undefined {
  if (NOT_PERMITTED.test(stderr)) return netAdminAdvice();
  if (!LACKS_MODULE.test(stderr)) return undefined;
  return stderr.includes('(legacy)')
    ? 'run modprobe -a iptable_nat iptable_filter iptable_mangle on the node, and ip6table_… for IPv6'
    : 'run modprobe -a nf_tables nft_compat on the node';
}

/** Removes lines that are meant for the user of a shell. */
function withoutAdvice(stderr: string): string {
  return stderr.replaceAll(/^(?:Try `|Perhaps |# Warning: ).*$/gm, '');
}
