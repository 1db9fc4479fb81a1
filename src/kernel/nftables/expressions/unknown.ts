/** An expression that has no words here: it is kept as it came, so that a rule can be written back unchanged. */
export interface UnknownExpression {
  readonly kind: 'unknown';
  readonly name: string;
  /** The value of NFTA_EXPR_DATA; undefined where there was none. */
  readonly data?: Buffer;
}
