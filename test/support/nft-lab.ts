import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { BatchError, NftablesSocket } from '../../src/kernel/nftables/index.ts';

export interface Lab {
  readonly socket: NftablesSocket;
  nft(...args: string[]): string;
  script(text: string, ...args: string[]): string;
}

/** A fresh network namespace, with nft in it. */
export async function inNamespace(work: (lab: Lab) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  const socket = NftablesSocket.open({ namespace });
  const run = (args: readonly string[], input?: string): string => {
    // nft opens its standard input by name, which it cannot if that is the socket Node would give it.
    const command =
      input === undefined ? (['nft', args] as const) : (['sh', ['-c', 'cat | nft "$@"', 'sh', ...args]] as const);
    const { stdout, stderr, status } = namespace.run(() =>
      spawnSync(command[0], command[1], { input, encoding: 'utf8', maxBuffer: 64 << 20 }),
    );
    assert.equal(status, 0, stderr);
    return stdout;
  };
  try {
    await work({ socket, nft: (...args) => run(args), script: (text, ...args) => run([...args, '-f', '-'], text) });
  } finally {
    socket.close();
    namespace.close();
  }
}

/** The error of a commit that must fail. */
export async function refused(commit: Promise<unknown>): Promise<BatchError> {
  const error: unknown = await commit.then(
    () => undefined,
    error => error,
  );
  assert.ok(error instanceof BatchError);
  return error;
}
