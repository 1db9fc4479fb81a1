/** What a command may write to, so that tests can read it. */
export interface Io {
  readonly stdout: { write(text: string): unknown; isTTY?: boolean; columns?: number; rows?: number };
  readonly stderr: { write(text: string): unknown; isTTY?: boolean };
  readonly env: NodeJS.ProcessEnv;
}

/** A sub-command of kube-proxy. `run` returns the exit status. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  run(args: readonly string[], io: Io): Promise<number>;
}
