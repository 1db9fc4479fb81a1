interface Output {
  write(text: string): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  isTTY?: boolean;
}

/** What a command may write to, so that tests can read it. */
export interface Io {
  readonly stdout: Output & { columns?: number; rows?: number };
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
}

/** A sub-command of kube-proxy. `run` returns the exit status. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  run(args: readonly string[], io: Io): Promise<number>;
}
