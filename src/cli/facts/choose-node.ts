import { hostname } from 'node:os';
import { compareTexts } from '../../lib/compare-texts.ts';
import { editDistance, nearest } from '../../lib/nearest.ts';
import { nodeNameFrom } from '../../model/index.ts';
import { FlagError } from '../flags/index.ts';
import type { Snapshot } from './snapshot.ts';

export interface ChosenNode {
  readonly name: string;
  /** The snapshot has no Nodes, so this machine stands for the node. */
  readonly isThisMachine: boolean;
  readonly note?: string | undefined;
}

const MAX_LISTED = 10;

/**
 * Chooses the node whose view the operator wants: the one that was named, the only Node, or the Node that has the name
 * of this machine. Without any Node it is this machine. Throws a FlagError that lists the Nodes.
 */
export function chooseNode(wanted: string, snapshot: Snapshot, machineName = hostname()): ChosenNode {
  const names = [...snapshot.nodes.keys()].sort(compareTexts);
  const own = nodeNameFrom('', machineName) ?? 'localhost';
  const [first] = names;
  if (first === undefined) return thisMachine(wanted || own, snapshot);
  if (wanted !== '') {
    if (snapshot.nodes.has(wanted)) return { name: wanted, isThisMachine: false };
    const message = `there is no Node ${wanted} in ${snapshot.name}: the Nodes are ${listed(byDistance(wanted, names))}`;
    throw new FlagError(message, suggestion(nearest(wanted, names)));
  }
  if (names.length === 1) return { name: first, isThisMachine: false };
  if (snapshot.nodes.has(own)) {
    return {
      name: own,
      isThisMachine: false,
      note: `this is the view of the Node ${own}, which has this machine's name`,
    };
  }
  throw new FlagError(`${snapshot.name} has ${names.length} Nodes: name one with --node: ${listed(names)}`);
}

function thisMachine(name: string, { origin }: Snapshot): ChosenNode {
  return {
    name,
    isThisMachine: true,
    note: `${origin === 'cluster' ? 'the cluster has' : 'the manifests have'} no Node, so the plan uses the addresses of this machine`,
  };
}

function byDistance(wanted: string, names: readonly string[]): readonly string[] {
  const distances = new Map(names.map(name => [name, editDistance(wanted, name)]));
  return [...names].sort((a, b) => (distances.get(a) ?? 0) - (distances.get(b) ?? 0));
}

function suggestion(name: string | undefined): string | undefined {
  return name && `--node ${name}`;
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
