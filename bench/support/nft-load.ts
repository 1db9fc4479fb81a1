import { setTimeout as sleep } from 'node:timers/promises';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { InputFile, ProgramError, type ProgramInput, runProgram } from '../../src/kernel/programs/index.ts';
import type { Size } from './cluster.ts';
import { gainScript, loadScript } from './upstream-layout.ts';

/** Milliseconds. */
export interface NftResult {
  /** Undefined if the load took longer than the limit. */
  readonly cold: number | undefined;
  readonly gained: readonly number[];
  readonly limit: number;
}

const REPETITIONS = 10;
/** The longest time for all changes together. */
const CHANGES_MS = 10_000;

/** Loads a cluster in kube-proxy's layout with the program nft, in one transaction, and changes it. */
export async function measureNft({ size, limit }: { readonly size: Size; readonly limit: number }): Promise<NftResult> {
  const namespace = NetworkNamespace.create();
  try {
    const cold = await run(namespace, loadScript(size), limit);
    const gained: number[] = [];
    const start = performance.now();
    for (let i = 0; i < REPETITIONS && cold !== undefined && performance.now() - start < CHANGES_MS; i++) {
      const spent = await run(namespace, gainScript(i * 7, size.endpoints), limit);
      if (spent !== undefined) gained.push(spent);
    }
    return { cold, gained, limit };
  } finally {
    namespace.close();
  }
}

/** Returns how long nft took, without the time to make the script. Undefined if it took longer than the limit. */
async function run(namespace: NetworkNamespace, script: ProgramInput, limit: number): Promise<number | undefined> {
  const input = InputFile.create(script);
  let pid = 0;
  try {
    const start = performance.now();
    const onStart = (started: number) => {
      pid = started;
    };
    await runProgram('nft', ['-f', '-'], { timeoutMs: limit, input, namespace, onStart });
    return performance.now() - start;
  } catch (error) {
    if (!(error instanceof ProgramError && error.failure.kind === 'timed-out')) throw error;
    await waitForEnd(pid);
    return undefined;
  } finally {
    input.close();
  }
}

/** A killed program may still work inside the kernel, which would disturb the next measurement. */
async function waitForEnd(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(20);
  }
}
