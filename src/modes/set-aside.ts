import { objectName, type Protocol } from '../api/index.ts';
import { KernelError } from '../kernel/errors.ts';
import { errorText } from '../lib/error-text.ts';
import type { Family } from '../net/index.ts';
import type { ServicePortPlan } from '../plan/index.ts';

/** A service port that the mode could not program. All others are programmed. */
export interface SetAside {
  readonly family: Family;
  readonly namespace: string;
  readonly name: string;
  /** The name of the port; empty if it has none. */
  readonly port: string;
  readonly protocol: Protocol;
  readonly cause: SetAsideCause;
}

/** Why a service port is set aside. */
export interface SetAsideCause {
  /** The code of a `KernelError`, or `UNSUPPORTED` if the mode cannot program such a service port at all. */
  readonly code: KernelError['code'] | 'UNSUPPORTED' | 'INTERNAL';
  /** The kernel's error number: `EEXIST`. */
  readonly errno?: string | undefined;
  /** The object that the kernel refused, in the words of the tool that lists it. */
  readonly object?: string | undefined;
  /** All of it as text, for people. */
  readonly message: string;
}

export function setAsideOf(family: Family, { service, port }: ServicePortPlan, cause: SetAsideCause): SetAside {
  return { family, ...objectName(service), port: port.name, protocol: port.protocol, cause };
}

export function causeOf(error: unknown): SetAsideCause {
  const message = errorText(error);
  if (!(error instanceof KernelError)) return { code: 'INTERNAL', message };
  return { code: error.code, errno: error.errno, object: error.object, message };
}

/** Why the process could not bind a port. */
export function portCauseOf(error: unknown): SetAsideCause {
  const cause = causeOf(error);
  return cause.errno === 'EADDRINUSE' ? { ...cause, message: `${cause.message}; another program has it` } : cause;
}

/** `namespace/name` */
export function setAsideService({ namespace, name }: SetAside): string {
  return `${namespace}/${name}`;
}

/** `namespace/name:port`, as logs write a service port. */
export function setAsideName({ namespace, name, port }: SetAside): string {
  return `${namespace}/${name}${port === '' ? '' : `:${port}`}`;
}

/** The id of the plan of the service port. */
export function setAsideId(port: SetAside): string {
  return `${setAsideName(port)}/${port.protocol}`;
}
