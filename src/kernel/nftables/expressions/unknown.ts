/** An expression that cannot be decoded. It keeps all bytes, so that a rule can be written back unchanged. */
export interface UnknownExpression {
  readonly kind: 'unknown';
  readonly name: string;
  /** The value of NFTA_EXPR_DATA, or undefined if there is none. */
  readonly data?: Buffer;
}
