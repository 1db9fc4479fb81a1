import type { Message } from '../netlink/index.ts';
import { type Chain, decodeChain } from './chain.ts';
import { decodeElements, type Element } from './element.ts';
import type { NftFamily } from './family.ts';
import { familyIn, NftMessage, nftMessageOf } from './message.ts';
import { decodeRule, type Rule } from './rule.ts';
import { decodeSet, type SetOrMap } from './set.ts';
import { decodeTable, type Table } from './table.ts';

/** An object was added (`new`) or deleted (`del`). */
export interface NftEvent {
  readonly type: 'new' | 'del';
  readonly family: NftFamily;
  readonly table: string;
  readonly object: Table | Chain | SetOrMap | Rule | ChangedElements;
}

/** In a set without concatenation a range is two elements. The second one has `intervalEnd`. */
export interface ChangedElements {
  readonly kind: 'elements';
  readonly set: string;
  readonly elements: readonly Element[];
}

/** Returns undefined for messages about other objects, and for families that this folder does not support. */
export function decodeEvent(message: Message): NftEvent | undefined {
  const kind = nftMessageOf(message);
  const family = familyIn(message.body);
  if (kind === undefined || !family) return undefined;
  const found = decodeObject(kind, message);
  return found && { type: NEW.has(kind) ? 'new' : 'del', family, ...found };
}

const NEW: ReadonlySet<number> = new Set([
  NftMessage.NEWTABLE,
  NftMessage.NEWCHAIN,
  NftMessage.NEWRULE,
  NftMessage.NEWSET,
  NftMessage.NEWSETELEM,
]);

function decodeObject(kind: number, message: Message): Pick<NftEvent, 'table' | 'object'> | undefined {
  switch (kind) {
    case NftMessage.NEWTABLE:
    case NftMessage.DELTABLE: {
      const object = decodeTable(message);
      return object && { table: object.name, object };
    }
    case NftMessage.NEWCHAIN:
    case NftMessage.DELCHAIN: {
      const found = decodeChain(message);
      return found && { table: found.table, object: found.chain };
    }
    case NftMessage.NEWSET:
    case NftMessage.DELSET: {
      const found = decodeSet(message);
      return found && { table: found.table, object: found.set };
    }
    case NftMessage.NEWRULE:
    case NftMessage.DELRULE: {
      const found = decodeRule(message);
      return found && { table: found.table, object: found.rule };
    }
    case NftMessage.NEWSETELEM:
    case NftMessage.DELSETELEM: {
      const found = decodeElements(message);
      return found && { table: found.table, object: { kind: 'elements', set: found.set, elements: found.elements } };
    }
    default:
      return undefined;
  }
}
