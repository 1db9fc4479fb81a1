import { ProgramError, runProgram } from '../programs/index.ts';

const TIMEOUT_MS = 10_000;

/**
 * Loads the kernel's module: asking for its generic netlink family does that only on some kernels. Where it is built in,
 * or loading is somebody else's business, the program fails or is missing, and the next request tells whether it matters.
 */
export async function loadIpvs(): Promise<void> {
  try {
    await runProgram('modprobe', ['-q', 'ip_vs'], { timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
  }
}
