import { asString, asU32BE, attributeMap, type Message } from '../netlink/index.ts';
import { NFGENMSG_LENGTH } from './message.ts';

/**
 * The ruleset's generation: a number of the network namespace that every transaction which changed something raises,
 * whoever made it.
 */
export interface Generation {
  readonly kind: 'generation';
  readonly id: number;
  /**
   * Of a notification: the thread that made the transaction, which for nft is its process. The number is that of the
   * first pid namespace, so inside a container it is not the one that a process knows itself by.
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
