import type { Entries } from '../../../kernel/bpf/index.ts';

/** How many service ports are written together. */
export const CHUNK_SIZE = 512;

/** Service ports whose frontends are written together. */
export interface FrontendChunk {
  /** By plan id. Some may be gone. */
  ids: string[];
  /** What the map has for them: a new generation need not encode it again. Undefined if it changed. */
  entries: Entries | undefined;
}
