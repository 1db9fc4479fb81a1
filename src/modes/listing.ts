/** A part of the program that a mode writes: a chain, a map, a set, a table of virtual servers, listeners. */
export interface ListedBlock {
  /** Unique in a listing. Links lead to it. `chain services` */
  readonly id: string;
  /** In the words of the tool that lists it: `chain`, `map`, `set`, `virtual servers`. */
  readonly kind: string;
  readonly name: string;
  /** What the block is for, in one sentence. */
  readonly about?: string | undefined;
  /** `hook prerouting, priority -100` */
  readonly head?: string | undefined;
  readonly lines: readonly ListedLine[];
  /** How many lines the block has in all. More than `lines` if those of other Services are left out. */
  readonly total: number;
}

/** A rule or an element, cut into texts and links. */
export interface ListedLine {
  readonly parts: readonly ListedPart[];
  /** `ns/name` of the Service that the line belongs to. */
  readonly service?: string | undefined;
}

export type ListedPart = string | { readonly text: string /** The id of a block. */; readonly block: string };

/** The program of a mode for one family, in the order in which packets meet it. */
export interface Listing {
  readonly blocks: readonly ListedBlock[];
}
