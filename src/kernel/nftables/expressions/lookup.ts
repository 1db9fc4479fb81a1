import { asString, asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { withoutUndefined } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/**
 * Looks up the key that begins in `sreg`. Without `dreg` this is a lookup in a set: the rule ends if the key is
 * missing, or, with `inverted`, if the key exists. With `dreg` this is a lookup in a map. `dreg` 0 executes the verdict
 * of a verdict map.
 */
export interface Lookup {
  readonly kind: 'lookup';
  readonly set: string;
  /** The id of an anonymous set that is created in the same batch. The kernel does not list the id. */
  readonly setId?: number;
  readonly sreg: Register;
  readonly dreg?: Register;
  readonly inverted?: true;
}

const SET = 1;
const SREG = 2;
const DREG = 3;
const SET_ID = 4;
const FLAGS = 5;

const INVERTED = 0x1;

export const lookup: Codec<Lookup> = {
  name: 'lookup',
  highest: FLAGS,

  encode(writer, { sreg, dreg, set, setId, inverted }) {
    writer.u32BE(SREG, sreg);
    if (dreg !== undefined) writer.u32BE(DREG, dreg);
    writer.string(SET, set);
    if (setId !== undefined) writer.u32BE(SET_ID, setId);
    if (inverted) writer.u32BE(FLAGS, INVERTED);
  },

  decode(attributes) {
    const set = asString(attributes.get(SET));
    const sreg = asU32BE(attributes.get(SREG));
    const flags = asU32BE(attributes.get(FLAGS)) ?? 0;
    if (set === undefined || sreg === undefined || flags & ~INVERTED) return undefined;
    const rest = withoutUndefined({
      setId: asU32BE(attributes.get(SET_ID)),
      dreg: asU32BE(attributes.get(DREG)),
      inverted: flags & INVERTED ? (true as const) : undefined,
    });
    return { kind: 'lookup', set, sreg, ...rest };
  },

  print({ sreg, set, dreg, inverted }) {
    const into = dreg === undefined ? '' : ` dreg ${dreg}`;
    return `lookup ${printRegister(sreg)} set ${set}${into}${inverted ? ' 0x1' : ''}`;
  },
};
