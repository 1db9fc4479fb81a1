import type { Ip } from '../net/index.ts';

/** One endpoint of a Service port. */
export interface Endpoint {
  readonly ip: Ip;
  readonly port: number;
  /** `10.0.0.1:80`, `[fd00::1]:80`. Its identity, and by bytes its place in the order. */
  readonly text: string;
  readonly nodeName: string | undefined;
  readonly isLocal: boolean;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  /** Zones that should use it; undefined if it has no such hint. */
  readonly zoneHints: readonly string[] | undefined;
  /** Nodes that should use it; undefined if it has no such hint. */
  readonly nodeHints: readonly string[] | undefined;
}

export function sameEndpoints(a: readonly Endpoint[], b: readonly Endpoint[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!sameEndpoint(a[i], b[i])) return false;
  }
  return true;
}

function sameEndpoint(a: Endpoint | undefined, b: Endpoint | undefined): boolean {
  if (a === b) return true;
  return (
    a !== undefined &&
    b !== undefined &&
    a.text === b.text &&
    a.nodeName === b.nodeName &&
    a.isLocal === b.isLocal &&
    a.ready === b.ready &&
    a.serving === b.serving &&
    a.terminating === b.terminating &&
    sameHints(a.zoneHints, b.zoneHints) &&
    sameHints(a.nodeHints, b.nodeHints)
  );
}

function sameHints(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && a.length === b.length && a.every((hint, i) => hint === b[i]);
}
