import { servicePortName } from '../model/index.ts';
import type { Family } from '../net/index.ts';
import type { FailureCause } from './attempts.ts';

/** An endpoint of a service port is left out, because new connections to it failed, or it is used again. */
export interface EjectionReport {
  readonly family: Family;
  /** `ns/name` */
  readonly service: string;
  /** The name of the port; empty if it has none. */
  readonly port: string;
  /** `10.0.0.1:80` */
  readonly endpoint: string;
  /** Why and for how long it is left out. Undefined if it is used again. */
  readonly leftOut: LeftOut | undefined;
}

export interface LeftOut {
  /** How the last connection failed. */
  readonly cause: FailureCause;
  /** How many failed in a row. */
  readonly failures: number;
  readonly seconds: number;
}

/** `new connections to 10.0.0.1:80 failed 3 times in a row, the last one was refused` */
export function ejectionWords({ endpoint, leftOut }: EjectionReport): string {
  if (!leftOut) return `${endpoint} was left out for failed connections and is used again`;
  const { cause, failures } = leftOut;
  const times = failures === 1 ? 'once' : `${failures} times in a row`;
  return `new connections to ${endpoint} failed ${times}, the last one ${cause === 'refused' ? 'was refused' : 'timed out'}`;
}

/** `ns/name:port` */
export function ejectionPortName({ service, port }: EjectionReport): string {
  return servicePortName(service, port);
}
