import type { MessageWriter } from '../../netlink/index.ts';
import type { Expression } from './expression.ts';

/** Attributes of an expression by type. */
export type Attributes = ReadonlyMap<number, Buffer>;

/** Gives an expression that contains others (dynset) access to all codecs. An import would be circular. */
export interface Nested {
  /** Writes one expression as the attribute `attributeType`. */
  encode(writer: MessageWriter, attributeType: number, expression: Expression): void;
  /** Returns undefined if the expression is nested deeper than the kernel allows. */
  decode(value: Buffer): Expression | undefined;
  print(expression: Expression): string;
}

interface CodecName {
  /** The kernel's name of the expression. */
  readonly name: string;
  /**
   * The highest known attribute. An expression with a higher one comes from a newer kernel or tool. It is kept as
   * unknown, because dropping the attribute would change the meaning of the rule.
   */
  readonly highest: number;
}

/** The half of a codec that is selected by the kind of an expression. */
export interface Encoder<E> extends CodecName {
  encode(writer: MessageWriter, expression: E, nested: Nested): void;
  /** The text that `nft --debug=netlink` prints between the brackets. */
  print(expression: E, nested: Nested): string;
}

/** The half of a codec that is selected by the kernel's name of an expression. */
export interface Decoder<E> extends CodecName {
  /** Returns undefined if an attribute is missing or has an unknown value. The expression is then kept as unknown. */
  decode(attributes: Attributes, nested: Nested): E | undefined;
}

/** The codec of one nf_tables expression. It may have several kinds here: `meta` loads or sets. */
export interface Codec<E> extends Encoder<E>, Decoder<E> {}
