import { spawnSync } from 'node:child_process';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

/** Runs a program in the namespace and returns its output. Throws if the program fails. */
export function runIn(
  namespace: NetworkNamespace,
  program: string,
  args: readonly string[] = [],
  input: string | undefined = undefined,
): string {
  const { status, stdout, stderr, signal } = namespace.run(() =>
    spawnSync(program, args, { encoding: 'utf8', input, maxBuffer: 64 << 20 }),
  );
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${signal ?? ''}${stderr}`);
  return stdout;
}

/** Runs nft with a script as its input. */
export function runNftScript(namespace: NetworkNamespace, script: string, args: readonly string[] = []): string {
  // nft opens its standard input by name. That fails with the socket that Node gives it, but works with a pipe.
  return runIn(namespace, 'sh', ['-c', 'cat | nft "$@"', 'sh', ...args, '-f', '-'], script);
}
