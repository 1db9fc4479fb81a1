import type { ProgramOptions } from '../programs/index.ts';
import type { SocketPort } from '../render.ts';
import { type FamilyContents, portsOf } from './contents.ts';
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

export function neededParts(ports: Iterable<SocketPort>): NeededParts {
  let [affinity, leastConnections] = [false, false];
  for (const { affinitySeconds, isLeastConnections } of ports) {
    affinity ||= affinitySeconds > 0;
    leastConnections ||= isLeastConnections;
  }
  return { affinity, leastConnections };
}

export function hasPartsFor(parts: NeededParts, { affinitySeconds, isLeastConnections }: SocketPort): boolean {
  return (parts.affinity || affinitySeconds === 0) && (parts.leastConnections || !isLeastConnections);
}

export function featuresFor(
  contents: readonly FamilyContents[],
  { countConnections = false, listedNamespaces }: EbpfOptions,
): Features {
  const needed = contents.map(each => neededParts(portsOf(each)));
  return {
    affinity: needed.some(({ affinity }) => affinity),
    leastConnections: needed.some(({ leastConnections }) => leastConnections),
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
