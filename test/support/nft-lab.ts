import assert from 'node:assert/strict';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { BatchError, NftablesSocket } from '../../src/kernel/nftables/index.ts';
import { withNamespace } from './namespaces.ts';
import { runIn, runNftScript } from './run-in.ts';

export interface Lab {
  readonly namespace: NetworkNamespace;
  readonly socket: NftablesSocket;
  /** Runs nft and returns its output. */
  nft(...args: string[]): string;
  /** Runs nft with a script as its input. */
  script(text: string, ...args: string[]): string;
}

/** Runs the work with a socket and with nft in a new network namespace. */
export async function inNamespace(work: (lab: Lab) => Promise<void>): Promise<void> {
  await withNamespace(async namespace => {
    const socket = NftablesSocket.open({ namespace });
    try {
      await work({
        namespace,
        socket,
        nft: (...args) => runIn(namespace, 'nft', args),
        script: (text, ...args) => runNftScript(namespace, text, args),
      });
    } finally {
      socket.close();
    }
  });
}

/** Returns the error of a commit that must fail. */
export async function refused(commit: Promise<unknown>): Promise<BatchError> {
  const error: unknown = await commit.then(
    () => undefined,
    error => error,
  );
  assert.ok(error instanceof BatchError);
  return error;
}
