import type { NftFamily } from '../../family.ts';
import type { NetworkProtocol } from './fields.ts';
import { type Held, nothingHeld } from './held.ts';

/** Gives the elements of an anonymous set, `{ 10.0.0.1, 10.0.0.2 }`. Undefined where it is not known. */
export type AnonymousSets = (set: string) => string | undefined;

/** A part of the line. */
interface Piece {
  text: string;
}

export type Layer = 'link' | 'network' | 'transport';

/** A rule on its way to text. */
export interface Walk {
  readonly family: NftFamily;
  readonly anonymous: AnonymousSets;
  readonly held: Held;
  readonly pieces: Piece[];
  /** The protocols that the packet must have to come this far. */
  network: NetworkProtocol | undefined;
  transport: number | undefined;
  /**
   * Matches that only say which protocol a later field belongs to. nft leaves them out where that field is printed:
   * `meta l4proto tcp` in front of `tcp dport 80`.
   */
  readonly implied: Map<Layer, Piece>;
}

export function startWalk(family: NftFamily, anonymous: AnonymousSets): Walk {
  return {
    family,
    anonymous,
    held: nothingHeld(),
    pieces: [],
    network: family === 'inet' ? undefined : family,
    transport: undefined,
    implied: new Map(),
  };
}

/** Adds a match. With a layer it is one that a field of this layer implies. */
export function pushMatch(walk: Walk, text: string, layer?: Layer): void {
  const piece = { text };
  walk.pieces.push(piece);
  if (layer) walk.implied.set(layer, piece);
}

/** Adds a statement. nft keeps the matches in front of one, because the statement already happens for them. */
export function pushStatement(walk: Walk, text: string): void {
  walk.pieces.push({ text });
  walk.implied.clear();
}

/** Leaves out the match that a field of this layer implies. */
export function dropImplied(walk: Walk, layer: Layer): void {
  const piece = walk.implied.get(layer);
  if (piece) piece.text = '';
  walk.implied.delete(layer);
}

export function lineOf(walk: Walk): string {
  return walk.pieces
    .map(piece => piece.text)
    .filter(text => text !== '')
    .join(' ');
}
