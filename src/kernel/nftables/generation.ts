import { asString, asU32BE, attributeMap, type Message } from '../netlink/index.ts';
import { NFGENMSG_LENGTH } from './message.ts';

/**
 * The generation of the ruleset of a network namespace. Every transaction that changes something increases it,
 * whichever program made the transaction.
 */
export interface Generation {
  readonly kind: 'generation';
  readonly id: number;
  /**
   * Only in notifications: the thread that made the transaction. For nft this is its process. The number belongs to the
   * initial PID namespace, so inside a container it is not the PID that the process itself sees.
   */
  readonly pid?: number;
  /** The thread's name, at most 15 bytes. */
  readonly process?: string;
}

export const GenerationAttribute = { ID: 1, PROC_PID: 2, PROC_NAME: 3 } as const;

/** Decodes NFT_MSG_NEWGEN. */
export function decodeGeneration(message: Message): Generation | undefined {
  const attributes = attributeMap(message.body, NFGENMSG_LENGTH);
  const id = asU32BE(attributes.get(GenerationAttribute.ID));
  if (id === undefined) return undefined;
  const pid = asU32BE(attributes.get(GenerationAttribute.PROC_PID));
  const process = asString(attributes.get(GenerationAttribute.PROC_NAME));
  return { kind: 'generation', id, ...(pid !== undefined && { pid }), ...(process !== undefined && { process }) };
}
