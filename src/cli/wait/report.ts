import { printable } from '../../lib/printable.ts';
import type { Style } from '../style.ts';
import type { Target } from './target.ts';

export const WAIT_SCHEMA = 'pointsman.wait/v1';

/** The most nodes that a report names. */
const MAX_MISSING = 20;

/**
 * no-lease   there is no Lease of the node
 * booted     the Lease is of the time before the node's last boot
 * stale      the Lease was not renewed in time
 * behind     the node does not have the versions yet
 * unknown    the proxy of the node does not know the Service
 * set-aside  the node could not program the Service
 */
export type MissingCause = 'no-lease' | 'booted' | 'stale' | 'behind' | 'unknown' | 'set-aside';

export interface MissingNode {
  readonly node: string;
  readonly cause: MissingCause;
  readonly message: string;
}

/** How a wait ended. */
export interface WaitReport {
  readonly schema: typeof WAIT_SCHEMA;
  readonly service: string;
  readonly for: 'programmed';
  readonly outcome: 'programmed' | 'timeout' | 'set-aside';
  readonly seconds: number;
  /** The resource versions that the nodes must have. Absent if the command did not ask an API server. */
  readonly versions?: { readonly service: string; readonly endpointSlices?: string | undefined } | undefined;
  /** How many EndpointSlices the Service has. Absent if the command did not ask an API server. */
  readonly endpointSliceCount?: number | undefined;
  readonly nodes: {
    readonly all: number;
    readonly programmed: number;
    /** The first twenty nodes that lack something. */
    readonly missing: readonly MissingNode[];
  };
}

export interface WaitEnd {
  readonly service: string;
  readonly target: Target | undefined;
  readonly nodeCount: number;
  readonly missing: readonly MissingNode[];
  readonly milliseconds: number;
}

export function waitReport({ service, target, nodeCount, missing, milliseconds }: WaitEnd): WaitReport {
  const isAside = missing.some(({ cause }) => cause === 'set-aside');
  return {
    schema: WAIT_SCHEMA,
    service,
    for: 'programmed',
    outcome: missing.length === 0 ? 'programmed' : isAside ? 'set-aside' : 'timeout',
    seconds: Math.round(milliseconds) / 1000,
    versions: target && { service: target.services, endpointSlices: target.endpointSlices },
    endpointSliceCount: target?.sliceCount,
    nodes: {
      all: nodeCount,
      programmed: nodeCount - missing.length,
      // Nodes that can never have the Service come first.
      missing: [...missing]
        .sort((a, b) => Number(b.cause === 'set-aside') - Number(a.cause === 'set-aside'))
        .slice(0, MAX_MISSING),
    },
  };
}

export function waitText(report: WaitReport, style: Style): string {
  const { service, outcome, seconds, nodes } = report;
  const name = printable(service);
  const where = nodes.all === 1 ? '1 node' : `all ${nodes.all} nodes`;
  const empty = report.endpointSliceCount === 0 ? '; it has no EndpointSlice' : '';
  if (outcome === 'programmed') return `${style.green('✓')} ${name} is programmed on ${where}${empty}\n`;
  const lacking = nodes.all - nodes.programmed;
  const after = outcome === 'timeout' ? ` after ${Math.round(seconds)} s` : '';
  const lines = nodes.missing.map(({ node, message }) => `  ${printable(node)}: ${printable(message)}`);
  const more = lacking - nodes.missing.length;
  return [
    `${style.red('✗')} ${name} is not programmed on ${lacking} of ${nodes.all} nodes${after}`,
    ...lines,
    ...(more > 0 ? [`  and ${more} more`] : []),
    '',
  ].join('\n');
}

/** One line about a wait that goes on. */
export function progressText(service: string, nodeCount: number, missing: readonly string[]): string {
  const named = missing.slice(0, 3).map(printable).join(', ');
  const more = missing.length > 3 ? ` and ${missing.length - 3} more` : '';
  const done = nodeCount - missing.length;
  return `${printable(service)} is programmed on ${done} of ${nodeCount} nodes; waiting for ${named}${more}\n`;
}
