import { sameList } from '../lib/same-list.ts';
import type { Ip } from '../net/index.ts';

/** One endpoint of a service port. */
export interface Endpoint {
  readonly ip: Ip;
  readonly port: number;
  /** `10.0.0.1:80`, `[fd00::1]:80`. It identifies the endpoint, and lists are sorted by it. */
  readonly text: string;
  readonly nodeName: string | undefined;
  readonly isLocal: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zone: string | undefined;
  /** From an annotation of its slice. Undefined without one. */
  readonly weight: number | undefined;
  /** The zones that should use it. Undefined without such a hint. */
  readonly zoneHints: readonly string[] | undefined;
  /** The nodes that should use it. Undefined without such a hint. */
  readonly nodeHints: readonly string[] | undefined;
}

export function sameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  return sameList(a, b, sameEndpoint);
}

function sameEndpoint(a: Endpoint, b: Endpoint): boolean {
  return (
    a === b ||
    (a.text === b.text &&
      a.nodeName === b.nodeName &&
      a.isLocal === b.isLocal &&
      a.ready === b.ready &&
      a.serving === b.serving &&
      a.terminating === b.terminating &&
      a.zone === b.zone &&
      a.weight === b.weight &&
      sameHints(a.zoneHints, b.zoneHints) &&
      sameHints(a.nodeHints, b.nodeHints))
  );
}

function sameHints(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && sameList(a, b));
}
