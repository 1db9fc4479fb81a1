import type { Commit, NftablesSocket } from '../../kernel/nftables/index.ts';

/** Someone else changed the ruleset while we wrote to it, so what we read before is worth nothing. */
export class MeddlingError extends Error {
  override readonly name = 'MeddlingError';
}

/** Tells whether a refusal may be due to someone else, by the ruleset's generation: was the last change ours? */
export class MeddlingCheck {
  readonly #socket: NftablesSocket;
  #expected: number;

  constructor(socket: NftablesSocket) {
    this.#socket = socket;
    this.#expected = socket.generation();
  }

  note(commit: Commit): Commit {
    // A transaction that began by deleting the table does not say which generation it made.
    this.#expected = commit.generation ?? this.#socket.generation();
    return commit;
  }

  get isMeddled(): boolean {
    return this.#socket.generation() !== this.#expected;
  }

  check(cause: Error): void {
    if (this.isMeddled) {
      throw new MeddlingError(`someone else changes the ruleset: ${cause.message}`, { cause });
    }
  }
}
