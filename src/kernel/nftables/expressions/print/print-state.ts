import type { NftFamily } from '../../family.ts';
import type { NetworkProtocol } from './fields.ts';
import { emptyRegisters, type RegisterContents } from './register-contents.ts';

/** Returns the elements of an anonymous set, `{ 10.0.0.1, 10.0.0.2 }`. Undefined if they are not known. */
export type AnonymousSets = (set: string) => string | undefined;

/** A part of the printed rule. */
interface Piece {
  text: string;
}

export type Layer = 'link' | 'network' | 'transport';

/** The state of the printer within a rule. */
export interface PrintState {
  readonly family: NftFamily;
  readonly anonymousSets: AnonymousSets;
  readonly registers: RegisterContents;
  readonly pieces: Piece[];
  /** The protocols that the expressions so far require. */
  network: NetworkProtocol | undefined;
  transport: number | undefined;
  /**
   * Matches that a later field of the layer implies. nft omits such a match if it prints the field: it does not print
   * `meta l4proto tcp` before `tcp dport 80`.
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

/** Adds a match. With a layer, a later field of this layer implies the match. */
export function pushMatch(state: PrintState, text: string, layer?: Layer): void {
  const piece = { text };
  state.pieces.push(piece);
  if (layer) state.implied.set(layer, piece);
}

/** Adds a statement. nft prints all matches before a statement, because the statement depends on them. */
export function pushStatement(state: PrintState, text: string): void {
  state.pieces.push({ text });
  state.implied.clear();
}

/** Omits the match that a field of this layer implies. */
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
