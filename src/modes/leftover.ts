import { KernelError } from '../kernel/errors.ts';
import { type Iptables, IptablesError } from '../kernel/iptables/index.ts';
import { errorText } from '../lib/error-text.ts';

export interface Leftover {
  /** `link kube-ipvs0` */
  readonly object: string;
  readonly reason: string;
  /** What the operator can do. */
  readonly advice: string;
}

/** A cleanup could not remove an object. The message is one line. */
export class LeftoverError extends Error implements Leftover {
  override readonly name = 'LeftoverError';
  readonly object: string;
  readonly reason: string;
  readonly advice: string;

  constructor({ object, reason, advice }: Leftover, cause?: unknown) {
    super(`${object}: ${reason}: ${advice}`.replaceAll(/\s+/g, ' '), { cause });
    this.object = object;
    this.reason = reason;
    this.advice = advice;
  }
}

/** The leftover for an error that removing the object caused. */
export function leftoverOf(object: string, error: unknown): LeftoverError {
  if (error instanceof LeftoverError) return error;
  return new LeftoverError({ object, reason: errorText(error), advice: adviceFor(error) }, error);
}

/** A chain that stays because a rule of another program jumps to it. */
export function usedChain(iptables: Iptables, table: string, chain: string, cause?: unknown): LeftoverError {
  return new LeftoverError(
    {
      object: chainText(iptables, table, chain),
      reason: 'rules of other programs jump to it',
      advice: `delete these rules (${iptables.program}-save -t ${table} | grep -w -- ${chain}), then run the cleanup again`,
    },
    cause,
  );
}

/** `chain KUBE-SERVICES of nat (IPv4, nf_tables)` */
export function chainText(iptables: Iptables, table: string, chain: string): string {
  return `chain ${chain} of ${table} (${placeText(iptables)})`;
}

/** `IPv4, nf_tables` */
export function placeText({ family, backend }: Iptables): string {
  return `${family === 'ip' ? 'IPv4' : 'IPv6'}, ${backend}`;
}

const PERMISSION = /\bE(?:PERM|ACCES)\b|Operation not permitted|Permission denied/;

function adviceFor(error: unknown): string {
  if (PERMISSION.test(errorText(error))) return 'run the cleanup as root, with the capability NET_ADMIN';
  if (error instanceof IptablesError && error.kind === 'lock') {
    return 'run the cleanup again when that program has ended';
  }
  if (error instanceof KernelError && error.errno === 'EBUSY') {
    return 'remove the rules that use it, then run the cleanup again';
  }
  return 'run the cleanup again, and if that does not help, remove it by hand';
}
