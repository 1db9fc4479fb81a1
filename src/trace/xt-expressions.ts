import { asString, attributeMap } from '../kernel/netlink/index.ts';
import { type AnonymousSets, type Expression, type NftFamily, printRule } from '../kernel/nftables/index.ts';

/** A part of a rule of iptables-nft that only the modules of iptables understand. */
interface XtExpression {
  readonly kind: 'match' | 'target';
  readonly name: string;
  /** Only of the match `comment`. */
  readonly comment: string | undefined;
}

/** NFTA_MATCH_NAME and NFTA_MATCH_INFO. Those of a target are the same. */
const NAME = 1;
const INFO = 3;

function readXt(expression: Expression): XtExpression | undefined {
  if (expression.kind !== 'unknown' || !expression.data) return undefined;
  const { name: kind, data } = expression;
  if (kind !== 'match' && kind !== 'target') return undefined;
  const attributes = attributeMap(data);
  const name = asString(attributes.get(NAME));
  if (name === undefined) return undefined;
  return { kind, name, comment: name === 'comment' ? asString(attributes.get(INFO)) : undefined };
}

/** Prints a rule in the notation of nft, with `xt target "DNAT"` for what only iptables could print. */
export function printMixedRule(
  family: NftFamily,
  expressions: readonly Expression[],
  anonymousSets: AnonymousSets,
): string {
  const texts: string[] = [];
  let plain: Expression[] = [];
  const flush = () => {
    if (plain.length > 0) texts.push(printRule(family, plain, anonymousSets));
    plain = [];
  };
  for (const expression of expressions) {
    const xt = readXt(expression);
    if (!xt) plain.push(expression);
    else {
      flush();
      texts.push(xt.comment === undefined ? `xt ${xt.kind} "${xt.name}"` : `comment "${xt.comment}"`);
    }
  }
  flush();
  return texts.join(' ');
}

/** The comment of a rule of iptables. */
export function xtComment(expressions: readonly Expression[]): string | undefined {
  return expressions.map(expression => readXt(expression)?.comment).find(comment => comment !== undefined);
}

export function isReject(expression: Expression): boolean {
  if (expression.kind === 'reject') return true;
  const xt = readXt(expression);
  return xt?.kind === 'target' && xt.name === 'REJECT';
}
