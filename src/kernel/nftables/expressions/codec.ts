import type { MessageWriter } from '../../netlink/index.ts';
import type { Expression } from './expression.ts';

/** Attributes of an expression by type. */
export type Attributes = ReadonlyMap<number, Buffer>;

/** How an expression that holds others (dynset) reaches the whole vocabulary without importing it. */
export interface Nested {
  /** Writes one expression as the attribute `attributeType`. */
  encode(writer: MessageWriter, attributeType: number, expression: Expression): void;
  /** Undefined when it is deeper than the kernel nests. */
  decode(value: Buffer): Expression | undefined;
  print(expression: Expression): string;
}

interface Named {
  /** The kernel's name of the expression. */
  readonly name: string;
  /**
   * Highest attribute that is understood. An expression with a higher one comes from a newer kernel or tool and is kept
   * as unknown, because dropping the attribute would change what the rule does.
   */
  readonly highest: number;
}

/** The half of a codec that is found by an expression's kind. */
export interface Encoder<E> extends Named {
  encode(writer: MessageWriter, expression: E, nested: Nested): void;
  /** What `nft --debug=netlink` shows between the brackets. */
  print(expression: E, nested: Nested): string;
}

/** The half of a codec that is found by the kernel's name. */
export interface Decoder<E> extends Named {
  /** Undefined when something is missing or has no word here; the expression is then kept as unknown. */
  decode(attributes: Attributes, nested: Nested): E | undefined;
}

/** One nf_tables expression, which may have several kinds here: `meta` loads or sets. */
export interface Codec<E> extends Encoder<E>, Decoder<E> {}
