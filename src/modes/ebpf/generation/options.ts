import type { NetworkNamespace } from '../../../kernel/netns.ts';
import type { Family } from '../../../net/index.ts';
import type { AttachmentOptions } from '../links/attachment.ts';
import type { FamilyChanges } from './contents.ts';

/** Options of the mode, as the configuration and flags give them. */
export interface EbpfOptions extends AttachmentOptions {
  /** Whose connections are translated: those of all processes of the machine, or of the node's own network only. */
  readonly sockets: 'all' | 'node';
  readonly countConnections?: boolean | undefined;
  /** Only these network namespaces are served, by cookie. For tests and demos. */
  readonly listedNamespaces?: Iterable<bigint> | undefined;
}

export interface TranslationOptions extends EbpfOptions {
  /** The network namespace of the node. */
  readonly namespace?: NetworkNamespace | undefined;
  /** The families that must be planned before the first generation. */
  readonly families: readonly Family[];
  /** What changed in the planned families since the generation that serves now. */
  changes(): Promise<readonly FamilyChanges[]>;
  /** `needsSync`: sockets were served until now. */
  failed(error: unknown, needsSync: boolean): void;
  notice(message: string): void;
  /** The condition may have changed. */
  attempted?(): void;
}
