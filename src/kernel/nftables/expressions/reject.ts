import { asU8, asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names } from './names.ts';

/**
 * Drops the packet and sends an error to its sender. `icmp` codes are codes of ICMP or ICMPv6, depending on the family
 * of the table. `icmpx` codes are codes of nf_tables; the kernel translates them for the family of the packet.
 */
export type Reject =
  | { readonly kind: 'reject'; readonly type: 'icmp' | 'icmpx'; readonly code: number }
  | { readonly kind: 'reject'; readonly type: 'tcp reset' };

const TYPE = 1;
const ICMP_CODE = 2;

const types = names({ icmp: 0, 'tcp reset': 1, icmpx: 2 });

export const reject: Codec<Reject> = {
  name: 'reject',
  highest: ICMP_CODE,

  encode(writer, expression) {
    writer.u32BE(TYPE, types.number(expression.type));
    writer.u8(ICMP_CODE, codeOf(expression));
  },

  decode(attributes) {
    const type = types.name(asU32BE(attributes.get(TYPE)));
    const code = asU8(attributes.get(ICMP_CODE));
    if (type === 'tcp reset') return { kind: 'reject', type };
    return type === undefined || code === undefined ? undefined : { kind: 'reject', type, code };
  },

  print: expression => `reject type ${types.number(expression.type)} code ${codeOf(expression)}`,
};

function codeOf(expression: Reject): number {
  return expression.type === 'tcp reset' ? 0 : expression.code;
}
