import { asString, asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names, withoutUndefined } from './names.ts';
import { printRegister, type Register } from './registers.ts';

const TYPES = {
  counter: 1,
  quota: 2,
  'ct helper': 3,
  limit: 4,
  'ct timeout': 7,
  secmark: 8,
  'ct expectation': 9,
  synproxy: 10,
} as const;

export type ObjectType = keyof typeof TYPES;

/** Uses an object of the table: `counter name "drops"`. */
export interface ObjectReference {
  readonly kind: 'objref';
  readonly type: ObjectType;
  readonly name: string;
}

/** Uses the object that a map contains for a key. */
export interface ObjectMap {
  readonly kind: 'objref-map';
  readonly sreg: Register;
  readonly set: string;
  /** The id of an anonymous map that is created in the same batch. The kernel does not list the id. */
  readonly setId?: number;
}

const IMM_TYPE = 1;
const IMM_NAME = 2;
const SET_SREG = 3;
const SET_NAME = 4;
const SET_ID = 5;

const types = names(TYPES);

// Names in this expression have no terminating zero byte, unlike names in other expressions.

export const objref: Codec<ObjectReference | ObjectMap> = {
  name: 'objref',
  highest: SET_ID,

  encode(writer, expression) {
    if (expression.kind === 'objref') {
      writer.u32BE(IMM_TYPE, types.number(expression.type)).data(IMM_NAME, Buffer.from(expression.name));
      return;
    }
    writer.u32BE(SET_SREG, expression.sreg).data(SET_NAME, Buffer.from(expression.set));
    if (expression.setId !== undefined) writer.u32BE(SET_ID, expression.setId);
  },

  decode(attributes) {
    const sreg = asU32BE(attributes.get(SET_SREG));
    const set = asString(attributes.get(SET_NAME));
    const setId = asU32BE(attributes.get(SET_ID));
    if (sreg !== undefined && set !== undefined)
      return { kind: 'objref-map', sreg, set, ...withoutUndefined({ setId }) };
    const type = types.name(asU32BE(attributes.get(IMM_TYPE)));
    const name = asString(attributes.get(IMM_NAME));
    return type === undefined || name === undefined ? undefined : { kind: 'objref', type, name };
  },

  print(expression) {
    if (expression.kind === 'objref') return `objref type ${types.number(expression.type)} name ${expression.name}`;
    return `objref s${printRegister(expression.sreg)} set ${expression.set}`;
  },
};
