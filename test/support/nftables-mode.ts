import { spawnSync } from 'node:child_process';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { NftablesSocket } from '../../src/kernel/nftables/index.ts';
import type { ModeSettings, SyncReport } from '../../src/modes/mode.ts';
import { NftablesMode } from '../../src/modes/nftables/mode.ts';
import type { Family } from '../../src/net/index.ts';
import { detectorFor, ModeHarness } from './mode-harness.ts';

/** One family of nftables mode in a namespace. */
export class NftablesHarness extends ModeHarness<NftablesMode> {
  readonly namespace: NetworkNamespace;
  readonly #countConnections: boolean;

  constructor(
    namespace: NetworkNamespace,
    family: Family = 'IPv4',
    settings: Partial<ModeSettings> = {},
    countConnections = false,
  ) {
    super(events => new NftablesMode({ namespace, events, countConnections }), {
      families: [family],
      settings: { localDetector: detectorFor('IPv4'), ...settings },
    });
    this.namespace = namespace;
    this.#countConnections = countConnections;
  }

  /** Waits until all work has ended, and removes leftovers. */
  settle(): Promise<void> {
    return this.mode.settle();
  }

  connections(): ReturnType<NftablesMode['connections']> {
    return this.mode.connections();
  }

  /** A new process with the same objects. */
  restartCounting(countConnections = this.#countConnections): Promise<SyncReport> {
    const { namespace } = this;
    return this.restart(events => new NftablesMode({ namespace, events, countConnections }));
  }
}

/** Runs nft in the namespace and returns what it printed; throws if it failed. */
export function nft(namespace: NetworkNamespace, ...args: string[]): string {
  const { status, stdout, stderr } = namespace.run(() => spawnSync('nft', args, { encoding: 'utf8' }));
  if (status !== 0) throw new Error(`nft ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/**
 * The ruleset in an order that does not depend on history: objects by name, elements by text. Comments of tables and
 * sets are left out, because the kernel ignores them if the object exists already.
 */
export function canonicalRuleset(namespace: NetworkNamespace, listed = nft(namespace, 'list', 'ruleset')): string {
  const sortElements = (_: string, elements: string) => {
    const texts = elements.split(',').map(text => text.trim());
    return `elements = { ${texts.sort().join(', ')} }`;
  };
  const blocks = listed
    .replaceAll(/^\t+comment .*\n/gm, '')
    .replaceAll(/elements = \{([^}]*)\}/g, sortElements)
    .replaceAll(/^table .* \{$/gm, '$&\n')
    // Without this, the last object of a table would differ from the same object in another place.
    .replaceAll(/^\}$/gm, '')
    .split('\n\n');
  return blocks
    .map(block => block.trim())
    .sort()
    .join('\n\n');
}

export function generation(namespace: NetworkNamespace): number {
  const socket = NftablesSocket.open({ namespace });
  try {
    return socket.generation();
  } finally {
    socket.close();
  }
}
