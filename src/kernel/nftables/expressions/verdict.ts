import { asString, asU32BE, attributeMap, type MessageWriter } from '../../netlink/index.ts';

/** What the kernel does with the packet next. After a `jump` it returns to the rule, after a `goto` it does not. */
export type Verdict =
  | { readonly kind: 'accept' | 'drop' | 'return' | 'continue' }
  | { readonly kind: 'jump' | 'goto'; readonly chain: string };

const NFTA_DATA_VERDICT = 2;
const NFTA_VERDICT_CODE = 1;
const NFTA_VERDICT_CHAIN = 2;

/** NF_DROP and NF_ACCEPT. Only nf_tables has the negative codes. */
const CODES = { drop: 0, accept: 1, continue: -1, jump: -3, goto: -4, return: -5 } as const;

/** Writes an attribute (an element's data, an immediate's data) that contains a verdict. */
export function encodeVerdict(writer: MessageWriter, attributeType: number, verdict: Verdict): void {
  const data = writer.nest(attributeType);
  const nest = writer.nest(NFTA_DATA_VERDICT);
  writer.u32BE(NFTA_VERDICT_CODE, CODES[verdict.kind]);
  if ('chain' in verdict) writer.string(NFTA_VERDICT_CHAIN, verdict.chain);
  writer.close(nest).close(data);
}

/** The verdict in an attribute's value. Undefined if there is none, or if it is not supported (`queue`). */
export function decodeVerdict(value: Buffer): Verdict | undefined {
  const nest = attributeMap(value).get(NFTA_DATA_VERDICT);
  if (!nest) return undefined;
  const attributes = attributeMap(nest);
  const code = asU32BE(attributes.get(NFTA_VERDICT_CODE));
  const chain = asString(attributes.get(NFTA_VERDICT_CHAIN));
  switch (code === undefined ? undefined : code | 0) {
    case CODES.drop:
      return { kind: 'drop' };
    case CODES.accept:
      return { kind: 'accept' };
    case CODES.continue:
      return { kind: 'continue' };
    case CODES.return:
      return { kind: 'return' };
    case CODES.jump:
      return chain === undefined ? undefined : { kind: 'jump', chain };
    case CODES.goto:
      return chain === undefined ? undefined : { kind: 'goto', chain };
    default:
      return undefined;
  }
}

/** `accept`, `goto services`. */
export function printVerdict(verdict: Verdict): string {
  return 'chain' in verdict ? `${verdict.kind} ${verdict.chain}` : verdict.kind;
}
