/** A part of the program that a mode writes: a chain, a map, a set, the virtual servers, the listeners. */
export interface ListedBlock {
  /** Unique in a listing. Links lead to it. `chain services`, `chain nat KUBE-SERVICES` */
  readonly id: string;
  /** Where packets meet the block first: the hook, or another heading. Blocks of a group follow one another. */
  readonly group: string;
  /** In the words of the tool that lists it: `chain`, `map`, `set`, `virtual servers`. */
  readonly kind: string;
  readonly name: string;
  /** What the block is for, in one sentence. */
  readonly about?: string | undefined;
  /** What the tool prints before the lines: `type nat hook prerouting priority -100` */
  readonly head?: string | undefined;
  /** The service port that the block belongs to: `default/web:http`. Undefined if several may use the block. */
  readonly servicePort?: string | undefined;
  /** The command that lists the same block in the kernel. */
  readonly command?: string | undefined;
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

export type ListedPart = string | ListedLink;

export interface ListedLink {
  readonly text: string;
  /** The id of a block. */
  readonly block: string;
}

/** The program of a mode for one family, in the order in which packets meet it. */
export interface Listing {
  readonly blocks: readonly ListedBlock[];
  /** Objects of other Services that stand in no listed block. */
  readonly notListed?: readonly NotListed[] | undefined;
  /** Why the listing lacks lines of the Service, or has no blocks at all. Undefined otherwise. */
  readonly incomplete?: string | undefined;
}

export interface NotListed {
  /** `chains of other Services` */
  readonly what: string;
  readonly count: number;
}

/** A listing that could not be made, and why. */
export function emptyListing(incomplete: string): Listing {
  return { blocks: [], incomplete };
}
