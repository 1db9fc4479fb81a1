import type { NftFamily } from '../../family.ts';
import type { NetworkProtocol } from './fields.ts';
import { emptyRegisters, type RegisterContents } from './register-contents.ts';

/** Gives the elements of an anonymous set, `{ 10.0.0.1, 10.0.0.2 }`. Undefined where it is not known. */
export type AnonymousSets = (set: string) => string | undefined;

/** A part of the line. */
interface Piece {
  text: string;
}

export type Layer = 'link' | 'network' | 'transport';

/** A rule on its way to text. */
export interface PrintState {
  readonly family: NftFamily;
  readonly anonymousSets: AnonymousSets;
  readonly registers: RegisterContents;
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

export function startPrinting(family: NftFamily, anonymousSets: AnonymousSets): PrintState {
  return {
    family,
    anonymousSets,
    registers: emptyRegisters(),
    pieces: [],
    network: family === 'inet' ? undefined : family,
    transport: undefined,
    implied: new Map(),
  };
}

/** Adds a match. With a layer it is one that a field of this layer implies. */
export function pushMatch(state: PrintState, text: string, layer?: Layer): void {
  const piece = { text };
  state.pieces.push(piece);
  if (layer) state.implied.set(layer, piece);
}

/** Adds a statement. nft keeps the matches in front of one, because the statement already happens for them. */
export function pushStatement(state: PrintState, text: string): void {
  state.pieces.push({ text });
  state.implied.clear();
}

/** Leaves out the match that a field of this layer implies. */
export function dropImpliedMatch(state: PrintState, layer: Layer): void {
  const piece = state.implied.get(layer);
  if (piece) piece.text = '';
  state.implied.delete(layer);
}

export function lineOf(state: PrintState): string {
  return state.pieces
    .map(piece => piece.text)
    .filter(text => text !== '')
    .join(' ');
}
