import type { ProgramOptions } from '../programs/index.ts';
import type { SocketPort } from '../render.ts';
import type { Need } from './need.ts';
import type { EbpfOptions } from './options.ts';

/** Which optional parts a generation has. A part costs memory, and time in every connection. */
export interface Features {
  readonly affinity: boolean;
  readonly leastConnections: boolean;
  readonly counts: boolean;
  /** Only namespaces with these cookies are served. Undefined: all are. */
  readonly listedNamespaces?: readonly bigint[] | undefined;
}

/** The parts that service ports ask for. */
type NeededParts = Pick<Features, 'affinity' | 'leastConnections'>;

export function neededParts(needs: readonly Need[]): NeededParts {
  return {
    affinity: needs.some(({ withAffinity }) => withAffinity > 0),
    leastConnections: needs.some(({ withLeastConnections }) => withLeastConnections > 0),
  };
}

export function needsPart({ affinitySeconds, isLeastConnections }: SocketPort): boolean {
  return affinitySeconds > 0 || isLeastConnections;
}

export function hasPartsFor(parts: NeededParts, { affinitySeconds, isLeastConnections }: SocketPort): boolean {
  return (parts.affinity || affinitySeconds === 0) && (parts.leastConnections || !isLeastConnections);
}

export function featuresFor(
  needs: readonly Need[],
  { countConnections = false, listedNamespaces }: EbpfOptions,
): Features {
  return {
    ...neededParts(needs),
    counts: countConnections,
    listedNamespaces: listedNamespaces && [...listedNamespaces],
  };
}

export function programOptions(
  { listedNamespaces, affinity, leastConnections, counts }: Features,
  { sockets, nodeCookie, canRefuse }: Pick<EbpfOptions, 'sockets'> & Pick<ProgramOptions, 'nodeCookie' | 'canRefuse'>,
): ProgramOptions {
  return {
    nodeCookie,
    canRefuse,
    scope: listedNamespaces ? 'listed' : sockets,
    hasAffinity: affinity,
    hasLeastConnections: leastConnections,
    countsConnections: counts,
  };
}
